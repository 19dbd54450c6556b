#!/usr/bin/env python3
"""Tests the recording of roctx, AMD's annotation API, with a stand-in of its library. The trace must contain the program's marks and
ranges. The library gets the same calls as without msleaks.
   usage: roctx_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, compile, equal, events_of, expect_golden, watched
from msleaks_e2e import arguments, need


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    folder, library = STANDINS / "hip", f"{scratch}/libroctx64.so.4"
    compile(need("gcc"), "-O1", "-g", "-fPIC", "-shared", folder / "roctx.c", "-Wl,-soname,libroctx64.so.4", "-o", library)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, PROGRAMS / "roctx.c", f"-I{folder}", library).items():
        run, _ = watched(msleaks, scratch, program)
        expect_golden(msleaks, run, "roctx")
        equal(f"{name}: marks", [event["label"] for event in events_of(msleaks, run, "mark")], ["loaded"])
        begins = events_of(msleaks, run, "range-begin")
        equal(f"{name}: ranges", [event["label"] for event in begins], ["forward", "inner", "copy"])
        ends = [event["id"] for event in events_of(msleaks, run, "range-end")]
        equal(f"{name}: ends", ends, [0, 0, begins[2]["id"], 0])
        print(f"{name}: {[event['label'] for event in begins]}")


if __name__ == "__main__":
    main()
