#!/usr/bin/env python3
"""Makes copies and fills of CUDA and of HIP. msleaks records each copy and each fill as one event with its number of bytes. The
program passes this number as bytes, as rows with a width, or in a structure.
   usage: cuda_copies_test.py BUILD SCRATCH cuda_copies|hip_copies
"""
import os
import re

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, equal, events_of, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments

# HIP's driver has no functions with a version suffix (_v2), and no variants for the per-thread default stream. In HIP's runtime
# library the names of these variants end with _spt.
HIP = [("cuda", "hip"), (r"_pt(?:ds|sz)\b", "_spt"), (r"cuMem(cpy[HD]to[HD](?:Async)?)_v2\b", r"hipMem\1"), (r"cuMemset(D\d+)(_v2|(Async))\b", r"hipMemset\1\3")]
RUNTIME = {"copy": [(301, False), (302, True), (600, False), (606, True), (0, False), (100, False),
                    (402, False), (404, True), (406, False), (408, True)],
           "set": [(309, False), (312, True), (312, False), (630, False), (636, True),
                   (410, False), (412, True), (414, False), (416, True)]}


def of_driver(source, is_hip):
    """Returns the expected events of the program's driver calls: (kind, bytes, whether a stream orders the operation)."""
    text = source.read_text()
    parts = ["static void driver(void) {"] if is_hip else ["static void driver(void) {", "static void driver_of_cuda(void) {"]
    calls = []
    for part in parts:
        body = text.split(part)[1].split("\n}")[0]
        for name, arguments_of in re.findall(r"expect\(\w*?(Mem\w+)\((.*?)\), 0, ", body):
            numbers = [int(number) for number in re.findall(r"\b(\d+)\b", arguments_of)]
            is_fill, width = name.startswith("Memset"), int((re.findall(r"D(?:2D)?(\d+)", name) or [8])[0]) // 8
            if "rows(" in arguments_of or "volume(" in arguments_of:
                size = numbers[0] * (5 if "rows(" in arguments_of else 6)
            elif "D2D" in name:
                size = numbers[-2] * numbers[-1] * width
            else:
                size = numbers[-1] * (width if is_fill else 1)
            calls.append(("set" if is_fill else "copy", size, "Async" in name))
    return calls


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    is_hip = topic.startswith("hip")
    folder = sources_for(topic, HIP, scratch, PROGRAMS / "cuda_copies.c",
                         *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_per_thread.cpp", "libcuda_copies.cpp", "cuda_runtime_api.h")))
    runtime, driver = [folder / "cudart.cpp", folder / "cudart_per_thread.cpp"], folder / "libcuda_copies.cpp"
    if is_hip:
        libraries = [standin(scratch, "libamdhip64.so.6", *runtime, driver, link=["-DHIP"]), "-DHIP"]
    else:
        libraries = [standin(scratch, "libcudart.so.12", *runtime), standin(scratch, "libcuda.so.1", driver, STANDINS / "cuda/libcuda_per_thread.cpp")]
    msleaks = Msleaks(build)
    source = folder / "cuda_copies.c"
    calls = of_driver(source, is_hip)
    equal("calls of the driver", len(calls), 12 if is_hip else 54)
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *libraries).items():
        run, _ = watched(msleaks, scratch, program)
        expect_golden(msleaks, run, topic)
        for kind in "copy", "set":
            events = [(event["size"], "async" in event["flags"]) for event in events_of(msleaks, run, kind)]
            equal(f"{name}: {kind}", events, [call[1:] for call in calls if call[0] == kind] + RUNTIME[kind])
        used = len(events_of(msleaks, run, "access"))
        equal(f"{name}: numbers written and read", used, 4 if is_hip else 8)
        equal(f"{name}: refused", len(events_of(msleaks, run, "failed")), 2)
        print(f"{name}: {len(calls)} calls of the driver")


if __name__ == "__main__":
    main()
