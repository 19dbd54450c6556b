#!/usr/bin/env python3
"""Captures a stream into a graph while a block is watched. During a capture, a driver call that cannot be captured would end the
capture. So msleaks must not call the driver, neither for the watch nor for the ledger of device memory. The graph must be
complete. When the graph runs, the watch must find the bytes that the graph changed.
   usage: cuda_capture_test.py BUILD SCRATCH cuda_capture|hip_capture
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, check, equal, events_of, expect_counts, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, line_of


def built(topic, folder, scratch):
    """Returns {way: libraries}. With "driver" the program is also linked with the driver, so the hooks call the driver."""
    if topic == "hip_capture":
        return {"hip": [standin(scratch, "libamdhip64.so.6", folder / "cudart_capture.cpp", folder / "amdhip.cpp")]}
    runtime = standin(scratch, "libcudart.so.12", folder / "cudart_capture.cpp")
    return {"runtime": [runtime], "driver": [runtime, "-Wl,--no-as-needed", standin(scratch, "libcuda.so.1", STANDINS / "cuda/libcuda_capture.cpp")]}


def expect_capture(msleaks, run, report, source):
    launches = [event.get("name") for event in events_of(msleaks, run, "launch")]
    equal("launches", launches, ["relu", "add", "graph"])
    expect_counts(msleaks, run, copy=1, set=2)  # only the program's calls, since a watch's own copies are not recorded
    changes = [(change["name"], change["operator"], change["offset"], change["bytes"], change["site"]["line"]) for change in report.json["watch"]]
    equal("changes", changes, [("weights", "graph", 0, 16, line_of(source, "// launch"))])
    [step] = [event["time_ns"] for event in events_of(msleaks, run, "step")]
    relu = events_of(msleaks, run, "launch")[0]["time_ns"]
    asked = [event for event in events_of(msleaks, run, "counter") if step <= event["time_ns"] <= relu]
    check(asked, "at the step nobody has asked how much memory is in use")
    return launches


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    os.environ["STANDIN_HIDDEN"] = "1"  # the host cannot read device memory, so a watch must call the library
    files = [PROGRAMS / "cuda_capture.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_capture.cpp", "cuda_runtime_api.h")), STANDINS / "hip/amdhip.cpp"]
    folder = sources_for(topic, [(r"cuda(?!rt\.cpp)", "hip")], scratch, *files)
    msleaks, source = Msleaks(build), folder / "cuda_capture.c"
    for way, libraries in built(topic, folder, scratch).items():
        here = f"{scratch}/{way}"
        os.makedirs(here, exist_ok=True)
        for name, program in build_programs(build, here, source, f"-I{folder}", *libraries, f"-Wl,-rpath,{scratch}", "-rdynamic").items():
            run, report = watched(msleaks, here, program)
            expect_golden(msleaks, run, topic)
            print(f"{way}, {name}: {expect_capture(msleaks, run, report, source)}")


if __name__ == "__main__":
    main()
