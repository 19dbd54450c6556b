#!/usr/bin/env python3
"""Tests functions of CUDA and of HIP that concern several devices. A list of launches is recorded as one launch for each element, on the
device of its stream. HIP's contexts choose the device of a block.
   usage: cuda_several_test.py BUILD SCRATCH cuda_several|hip_several
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, equal, events_of, expect_allocations, expect_counts, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, line_of

OF_HIP = [("device", 1, 2001), ("device", 1, 2002), ("device", 0, 1001), ("device", 1, 2003)]


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    is_hip = topic.startswith("hip")
    files = [PROGRAMS / "cuda_several.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_several.cpp", "cuda_runtime_api.h"))]
    folder = sources_for(topic, [(r"cuda(?!rt\.cpp)", "hip")], scratch, *files)
    name, options = ("libamdhip64.so.6", ["-DHIP"]) if is_hip else ("libcudart.so.12", [])
    libraries = [standin(scratch, name, folder / "cudart_several.cpp", link=options), *options]
    msleaks, source = Msleaks(build), folder / "cuda_several.c"
    for way, program in build_programs(build, scratch, source, f"-I{folder}", *libraries, "-rdynamic").items():
        run, report = watched(msleaks, scratch, program)
        expect_golden(msleaks, run, topic)
        expect_allocations(msleaks, run, [("device", 0, 1000), *(OF_HIP if is_hip else [])])
        launches = [(event["grid_x"], event["block_x"], event["shared_bytes"], event["device"], event.get("name")) for event in events_of(msleaks, run, "launch")]
        names = (None, None) if is_hip else ("scale", "shift")  # HIP's stand-in has no names
        first = (31, 2, 0, 0, names[0])
        equal(f"{way}: launches", launches, [first, (32, 3, 16, 1, names[1]), *([first] if is_hip else []), (31, 2, 0, 0, None), (41, 4, 8, 1, None)])
        expect_counts(msleaks, run, failed=1)
        streams = [handle["site"]["line"] for handle in report.json["handles"] if handle["kind"] == "stream"]
        equal(f"{way}: open streams", streams, [] if is_hip else [line_of(source, "// left open")])
        fills = [event["size"] for event in events_of(msleaks, run, "set")]
        equal(f"{way}: fills", fills, [1000, *([20, 22, 48, 52, 112, 120] if is_hip else [])])
        print(f"{way}: {launches}")


if __name__ == "__main__":
    main()
