#!/usr/bin/env python3
"""What of CUDA is said by a structure or has to be worked out: physical memory with its device, arrays, rows, and launches of graphs.
   usage: cuda_memory_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE = PROGRAMS / "cuda_memory.c"


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    folder = STANDINS / "cuda"
    driver = standin(scratch, "libcuda.so.1", folder / "libcuda_memory.cpp")
    runtime = standin(scratch, "libcudart.so.12", folder / "cudart.cpp", link=[driver])
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{folder}", runtime, driver).items():
        run, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, run, [("device", 1, 2 << 20), ("device", 1, 1 << 20), ("device", 0, 64 * 32 * 4), ("device", 0, 400),
                                          ("device", 0, 4000), ("device", 0, 2000)])
        refused = [(event["device"], event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed")]
        equal(f"{name}: refused", refused, [(7, 4096, 1), (1, 1 << 40, 2)])
        expect_counts(msleaks, run, launch=3, failed=2)
        equal(f"{name}: copies", [event["size"] for event in events_of(msleaks, run, "copy")], [2000] * 3)
        leak = ("device", 1, 1, 1 << 20, line_of(SOURCE, "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        print(f"{name}: {leak}")


if __name__ == "__main__":
    main()
