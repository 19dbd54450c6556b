#!/usr/bin/env python3
"""Calls CUDA's driver directly. Also calls functions that the driver returns by name, as a statically linked runtime library does.
The device of a block must be the device of the current context. The returned functions use the default stream of the process, or a
default stream for each thread.
   usage: cuda_driver_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_golden, expect_version_notes, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE = PROGRAMS / "cuda_driver.c"
OF_CONTEXTS = [(1, 1001), (0, 1002), (1, 1003), (1, 1004), (0, 1000), (0, 1005)]
OF_BLOCKS = [(0, 2000), (0, 2001), (0, 2002), (0, 2003)]
BY_NAME = [(0, 3001), (0, 3003), (0, 3005), (0, 3006)]
OF_THE_HOST = [("managed", 2004), ("pinned", 2005), ("pinned", 2006)]
# (grid, kernel's name) of each launch. A launch has no name if its handle was not returned by cuModuleGetFunction.
LAUNCHES = [(4, None), (2, None), (5, None), (7, "scale"), (8, "shift"), (6, None), (6, None)]
CONFIGURED = {1: 2, 3: 7}  # {index of a launch: grid}. Only hooks can read the grid of these launches, the plugin cannot


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    driver = standin(scratch, "libcuda.so.1", STANDINS / "cuda/libcuda_contexts.cpp", link=["-Wl,-Bsymbolic-functions"])
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, driver).items():
        run, report = watched(msleaks, scratch, program)
        expect_golden(msleaks, run, "cuda_driver", name)
        blocks = [(event["device"], event["size"]) for event in events_of(msleaks, run, "alloc") if event["heap"] == "device"]
        equal(f"{name}: blocks", blocks, OF_CONTEXTS + OF_BLOCKS + BY_NAME)
        equal(f"{name}: refused", [(event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed")], [(7, 201)])
        others = [(event["heap"], event["size"]) for event in events_of(msleaks, run, "alloc") if event["heap"] in ("managed", "pinned")]
        equal(f"{name}: managed and pinned", others, OF_THE_HOST)
        launches = [(event["grid_x"], event.get("name")) for event in events_of(msleaks, run, "launch")]
        if name != "hooks":
            launches = [(CONFIGURED.get(i, grid), kernel) for i, (grid, kernel) in enumerate(launches)]
        equal(f"{name}: launches", launches, LAUNCHES)
        leak = ("device", 1, 1, 1004, line_of(SOURCE, "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        run, _ = watched(msleaks, scratch, program, "reloaded")
        kernels = [(event["grid_x"], event.get("name")) for event in events_of(msleaks, run, "launch")]
        equal(f"{name}: kernels of two modules", kernels, [(1, "first"), (2, "second")])
        print(f"{name}: {leak}")
    expect_version_notes(msleaks, scratch, program, "libcuda", 13060, 14010)


if __name__ == "__main__":
    main()
