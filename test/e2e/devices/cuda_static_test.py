#!/usr/bin/env python3
"""Tests a program that is linked with CUDA's runtime library statically, so no hook can replace the library's functions. The library
finds the driver's functions by dlsym and cuGetProcAddress. So the hooks of the driver record each block, launch, copy and fill. The
library has no debug information, and the place is the line that calls it.
   usage: cuda_static_test.py BUILD SCRATCH
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, compile, device_leaks, equal, events_of, expect_allocations, expect_counts, expect_golden, run,
                        standin, watched)
from msleaks_e2e import arguments, check, line_of, need

SOURCE = PROGRAMS / "cuda_static.c"
BLOCKS = [("device", 0, 2001), ("device", 0, 2002), ("managed", 0, 2003), ("pinned", 0, 2004), ("device", 0, 2005)]


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    cuda = STANDINS / "cuda"
    standin(scratch, "libcuda.so.1", cuda / "libcuda_contexts.cpp", cuda / "libcuda_copies.cpp", link=["-Wl,-Bsymbolic-functions"])
    runtime = f"{scratch}/cudart_static.o"
    compile(need("g++"), "-std=c++20", "-O1", "-g0", "-fno-exceptions", "-fno-threadsafe-statics", "-c", cuda / "cudart_static.cpp", "-o", runtime)
    msleaks = Msleaks(build)
    # dlopen finds the driver by the program's RUNPATH.
    for name, program in build_programs(build, scratch, SOURCE, f"-I{cuda}", runtime, "-rdynamic", "-ldl").items():
        check("cudaMalloc" not in run([need("nm"), "-D", program]).stdout, "the program shows its runtime library")
        folder, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, folder, BLOCKS)
        # With the plugin each copy has the direction that the program passes, because the plugin instruments the program's calls.
        expect_golden(msleaks, folder, "cuda_static" if name == "hooks" else "cuda_static_plugin")
        equal(f"{name}: refused", [(event["size"], event["status"]) for event in events_of(msleaks, folder, "alloc-failed")], [(1 << 40, 2)])
        equal(f"{name}: launches", [(event["grid_x"], event["block_x"]) for event in events_of(msleaks, folder, "launch")], [(7, 32)])
        copies = [(event["size"], "async" in event["flags"]) for event in events_of(msleaks, folder, "copy")]
        equal(f"{name}: copies", copies, [(1001, False), (1002, True), (1003, False)])
        equal(f"{name}: fills", [event["size"] for event in events_of(msleaks, folder, "set")], [500])
        expect_counts(msleaks, folder, failed=0)
        equal(f"{name}: leaks", device_leaks(report), [("device", 0, 1, 2002, line_of(SOURCE, "// forgotten"))])
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        print(f"{name}: {device_leaks(report)}")


if __name__ == "__main__":
    main()
