#!/usr/bin/env python3
"""Copies from and to arrays and symbols of CUDA and of HIP. msleaks records each copy as one event with its bytes. The event has
the address of the symbol, or the handle of the array. msleaks records an array as a block. HIP's structures are tested in each
version's layout.
   usage: cuda_arrays_test.py BUILD SCRATCH cuda_arrays|hip_arrays
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments

HIP = [("cuda", "hip"), (r"_pt(?:ds|sz)\b", "_spt"), (r"cuMem(cpy[HAD]to[HAD](?:Async)?)_v2\b", r"hipMem\1"), (r"cuMemset(D\d+)(_v2|(Async))\b", r"hipMemset\1\3")]


def built(topic, folder, scratch):
    """Returns the stand-in libraries, and the other options with which the program is built."""
    runtime, driver = [folder / "cudart.cpp", folder / "cudart_arrays.cpp", folder / "cudart_per_thread.cpp"], folder / "libcuda_copies.cpp"
    if topic.startswith("hip"):
        return [standin(scratch, "libamdhip64.so.6", *runtime, driver, link=["-DHIP"]), "-DHIP"]
    return [standin(scratch, "libcudart.so.12", *runtime), standin(scratch, "libcuda.so.1", driver, STANDINS / "cuda/libcuda_per_thread.cpp")]


def expect_uses(msleaks, name, run):
    """Checks that the events of copies name three of the device's blocks."""
    blocks = {event["address"] for event in events_of(msleaks, run, "alloc") if event["heap"] == "device"}
    used = {event[end] for event in events_of(msleaks, run, "copy") for end in ("destination", "source")}
    equal(f"{name}: blocks that are used", len(used & blocks), 3)


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    folder = sources_for(topic, HIP, scratch, PROGRAMS / "cuda_arrays.c",
                         *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_arrays.cpp", "cudart_per_thread.cpp", "libcuda_copies.cpp", "cuda_runtime_api.h")))
    libraries, msleaks = built(topic, folder, scratch), Msleaks(build)
    for name, program in build_programs(build, scratch, folder / "cuda_arrays.c", f"-I{folder}", "-w", *libraries).items():
        for version in ("", "50200000") if topic.startswith("hip") else ("",):
            if version:
                os.environ["STANDIN_VERSION"] = version
            run, report = watched(msleaks, scratch, program, *(["before6"] if version else []))
            os.environ.pop("STANDIN_VERSION", None)
            expect_golden(msleaks, run, topic + ("_before6" if version else ""))
            expect_uses(msleaks, name, run)
            equal(f"{name}: leaks", device_leaks(report), [])
            print(f"{name} {version}: {len(events_of(msleaks, run, 'copy'))} copies")


if __name__ == "__main__":
    main()
