#!/usr/bin/env python3
"""Tests existing host memory that a program locks (makes page-locked) by CUDA or by HIP. The report shows the locked
memory beside the block that contains it. The sums of the report count the locked bytes only once.
   usage: cuda_registered_test.py BUILD SCRATCH cuda_registered|hip_registered
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, equal, events_of, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, check, line_of

WEIGHTS, BATCH, TABLE = 4 << 20, 1 << 16, 1 << 14


def registered(report):
    return [(finding["heap"], finding["count"], finding["bytes"], finding["site"]["line"])
            for finding in report.json["findings"] if finding["kind"] == "leak" and finding["heap"] == "registered"]


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    names = [("cuda", "hip"), ("cuMem", "hipMem")]
    folder = sources_for(topic, names, scratch, PROGRAMS / "cuda_registered.c",
                         *(STANDINS / "cuda" / name for name in ("cudart.cpp", "libcuda_memory.cpp", "cuda_runtime_api.h")))
    if topic.startswith("hip"):
        libraries = [standin(scratch, "libamdhip64.so.6", folder / "cudart.cpp"), "-DHIP"]
    else:
        driver = standin(scratch, "libcuda.so.1", folder / "libcuda_memory.cpp")
        libraries = [standin(scratch, "libcudart.so.12", folder / "cudart.cpp"), driver]
    msleaks = Msleaks(build)
    source = folder / "cuda_registered.c"
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *libraries).items():
        run, report = watched(msleaks, scratch, program)
        expect_golden(msleaks, run, topic)
        events = [event for event in events_of(msleaks, run, "alloc") if event["heap"] == "registered"]
        equal(f"{name}: registered", [(event["size"], "restored" in event["flags"]) for event in events],
              [(WEIGHTS, False), (TABLE, False), (BATCH, False), (0, True)])
        refused = [(event["heap"], event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed")]
        equal(f"{name}: refused", refused, [("registered", WEIGHTS, 712)])
        check(WEIGHTS <= report.peak_bytes < 2 * WEIGHTS, f"{name}: a peak of {report.peak_bytes} counts memory twice")
        equal(f"{name}: at the peak", report.heap_peak_bytes("registered"), WEIGHTS + TABLE + BATCH)
        leak = ("registered", 1, TABLE, line_of(source, "// forgotten"))
        equal(f"{name}: leaks", registered(report), [leak])
        check(report.json["leaks"]["bytes"] < TABLE, f"{name}: the leaks have {report.json['leaks']['bytes']} bytes")
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", registered(report), [])
        print(f"{name}: {leak}")


if __name__ == "__main__":
    main()
