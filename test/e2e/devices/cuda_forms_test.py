#!/usr/bin/env python3
"""Calls the variants of functions in CUDA's runtime library, and in HIP, that no other test calls. msleaks records each call as one
event, with its heap, bytes and grid. A launch has the name that the library returns for the kernel. The program passes a host stub
or a handle of a module.
   usage: cuda_forms_test.py BUILD SCRATCH cuda_forms|hip_forms
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, expect_golden, sources_for,
                        standin, watched)
from msleaks_e2e import arguments

HIP = [("cuda", "hip"), (r"_pt(?:ds|sz)\b", "_spt")]
CONFIGURED = 14  # the grid of the launch that passes a configuration structure, which only hooks can read
EXPECTED = {
    "cuda_forms": {"alloc": [("device", 0, 1000), ("pinned", 0, 1001), ("device", 0, 1002), ("device", 0, 1003), ("device", 0, 1004)],
                   "launch": [(11, "scale"), (12, "scale"), (13, "scale"), (14, "scale")], "copy": [(21, False), (22, True)]},
    "hip_forms": {"alloc": [("device", 0, 1000), ("pinned", 0, 1001), ("device", 0, 1002), ("pinned", 0, 1005), ("pinned", 0, 1006), ("pinned", 0, 1008), ("pinned", 0, 1009), ("device", 0, 1007),
                            ("device", 0, 56 * 18)],
                  "launch": [(11, "scale"), (12, "scale"), (13, "scale"), (14, "scale"), (15, "shift"), (16, "shift"), (17, "scale"), (18, "shift"), (19, "shift"),
                             (14, "shift"), (21, "shift")],
                  "copy": [(21, False), (22, True), (23, False), (24, True)]}}


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    files = [PROGRAMS / "cuda_forms.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_per_thread.cpp", "cuda_runtime_api.h")), STANDINS / "hip/amdhip.cpp"]
    folder = sources_for(topic, HIP, scratch, *files)
    sources = [folder / "cudart.cpp", folder / "cudart_per_thread.cpp"]
    if topic.startswith("hip"):
        libraries = [standin(scratch, "libamdhip64.so.6", *sources, folder / "amdhip.cpp"), "-DHIP"]
    else:
        libraries = [standin(scratch, "libcudart.so.12", *sources)]
    msleaks, expected = Msleaks(build), EXPECTED[topic]
    for name, program in build_programs(build, scratch, folder / "cuda_forms.c", f"-I{folder}", *libraries, "-rdynamic").items():
        run, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, run, expected["alloc"])
        expect_golden(msleaks, run, topic, name)
        launches = [(event["grid_x"], event["name"]) for event in events_of(msleaks, run, "launch")]
        equal(f"{name}: launches", launches if name == "hooks" else [(CONFIGURED if i in (3, 9) else grid, kernel) for i, (grid, kernel) in enumerate(launches)],
              expected["launch"])
        copies = [(event["size"], "async" in event["flags"]) for event in events_of(msleaks, run, "copy")]
        equal(f"{name}: copies", copies, expected["copy"])
        fills = [(event["size"], "async" in event["flags"]) for event in events_of(msleaks, run, "set")]
        equal(f"{name}: fills", fills, [(1000, False), (31, False), (32, True)])
        expect_counts(msleaks, run, failed=0)
        equal(f"{name}: leaks", device_leaks(report), [])
        print(f"{name}: {launches}")


if __name__ == "__main__":
    main()
