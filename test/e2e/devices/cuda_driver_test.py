#!/usr/bin/env python3
"""CUDA's driver as a program, or a runtime library that is linked statically, calls it: which device a block is on say contexts; and functions that
the driver hands out by name, with a default stream for each thread or without.   usage: cuda_driver_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_version_notes, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE = PROGRAMS / "cuda_driver.c"
OF_CONTEXTS = [(1, 1001), (0, 1002), (1, 1003), (1, 1004), (0, 1000), (0, 1005)]
OF_BLOCKS = [(0, 2000), (0, 2001), (0, 2002), (0, 2003)]
BY_NAME = [(0, 3001), (0, 3003), (0, 3005)]
GRIDS = [4, 2, 5, 6, 6]


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    driver = standin(scratch, "libcuda.so.1", STANDINS / "cuda/libcuda_contexts.cpp", link=["-Wl,-Bsymbolic-functions"])
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, driver).items():
        run, report = watched(msleaks, scratch, program)
        blocks = [(event["device"], event["size"]) for event in events_of(msleaks, run, "alloc") if event["heap"] == "device"]
        equal(f"{name}: blocks", blocks, OF_CONTEXTS + OF_BLOCKS + BY_NAME)
        equal(f"{name}: refused", [(event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed")], [(7, 201)])
        grids = [event["grid_x"] for event in events_of(msleaks, run, "launch")]
        equal(f"{name}: launches", grids if name == "hooks" else [*grids[:1], 2, *grids[2:]], GRIDS)  # a configuration only hooks read
        leak = ("device", 1, 1, 1004, line_of(SOURCE, "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        print(f"{name}: {leak}")
    expect_version_notes(msleaks, scratch, program, "libcuda", 14010)


if __name__ == "__main__":
    main()
