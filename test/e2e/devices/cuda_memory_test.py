#!/usr/bin/env python3
"""Tests calls of CUDA and of HIP whose size or device is not a plain parameter. The hook must read the size or the
device from a structure, or compute it. Examples are physical memory with its device, arrays, rows with a pitch, and launches of graphs.
   usage: cuda_memory_test.py BUILD SCRATCH cuda_memory|hip_memory
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, expect_golden, sources_for,
                        standin, watched)
from msleaks_e2e import arguments, line_of

HIP = [("cuda", "hip"), ("cuMem", "hipMem"), ("cuGraphLaunch", "hipGraphLaunch_spt"), (r"cu((?:Mipmapped)?Array\w*?)(_v2)?\b", r"hip\1")]


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    folder = sources_for(topic, HIP, scratch, PROGRAMS / "cuda_memory.c",
                         *(STANDINS / "cuda" / name for name in ("cudart.cpp", "libcuda_memory.cpp", "cuda_runtime_api.h")))
    both = [folder / "cudart.cpp", folder / "libcuda_memory.cpp"]
    if topic == "hip_memory":
        libraries = [standin(scratch, "libamdhip64.so.6", *both), "-DHIP"]
    else:
        driver = standin(scratch, "libcuda.so.1", both[1])
        libraries = [standin(scratch, "libcudart.so.12", both[0], link=[driver]), driver]
    msleaks = Msleaks(build)
    source = folder / "cuda_memory.c"
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *libraries).items():
        run, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, run, [("pinned", 0, 4096), ("device", 1, 2 << 20), ("device", 1, 1 << 20), ("device", 0, 64 * 32 * 4), ("device", 0, 400),
                                          ("device", 0, 4000), ("device", 0, 2000),
                                          ("device", 0, (64 + 16 + 4 + 1) * 4), ("device", 0, 64 * 32 * 8), ("device", 0, 480 * 4), ("device", 0, 84)])
        expect_golden(msleaks, run, topic)
        refused = [(event["device"], event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed")]
        equal(f"{name}: refused", refused, [(7, 4096, 1), (1, 1 << 40, 2)])
        expect_counts(msleaks, run, launch=3 if topic == "hip_memory" else 5, failed=2)
        equal(f"{name}: copies", [event["size"] for event in events_of(msleaks, run, "copy")], [2000] * 3)
        leak = ("device", 1, 1, 1 << 20, line_of(source, "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        print(f"{name}: {leak}")


if __name__ == "__main__":
    main()
