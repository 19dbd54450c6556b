#!/usr/bin/env python3
"""Copies by the functions of CUDA and HIP that make several copies in one call, and by those that copy volumes between devices. msleaks records
each copy with its number of bytes, its stream, and both ends. CUDA 13 has other prototypes for some of these functions, and HIP has
some of them.
   usage: cuda_batches_test.py BUILD SCRATCH cuda_batches|hip_batches
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, check, equal, events_of, sources_for, standin, watched
from msleaks_e2e import arguments


def of_list(stream, size):
    return [(size, stream, True), (size + 1, stream, True)]


def of_volumes(stream, width):
    return [(8 * 4 * 4, stream, True), (width * 6, stream, True)]


def wanted(is_hip, version):
    """Returns the copies of the program: (bytes, stream, whether it is asynchronous)."""
    driver = [*of_list(1, 10), *of_list(2, 20), *of_list(3, 30), *of_list(4, 40), *of_volumes(5, 10), *of_volumes(6, 20), *of_volumes(7, 30), *of_volumes(8, 40),
              (300, 0, False), (360, 0, False), (420, 9, True), (480, 10, True)]
    both = [*of_list(11, 50), *of_volumes(12, 90), (660, 0, False), (720, 13, True)]
    forms = [*of_list(14, 60), *of_volumes(15, 100), (780, 0, False), (840, 16, True)]
    refused = [(70, 17, True), (0, 17, True)]
    attributes = [copy for i in range(4) for copy in ((160 + 10 * i, 20 + 2 * i, True), ((160 + 10 * i) * 6, 21 + 2 * i, True))] # since CUDA 13
    if is_hip:
        return both + refused
    return driver + both + forms + (attributes if version >= 13 else []) + refused


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    msleaks, is_hip = Msleaks(build), topic.startswith("hip")
    for version in [7] if is_hip else [12, 13]:
        folder = f"{scratch}/{version}"
        os.makedirs(folder, exist_ok=True)
        sources = sources_for(topic, [("cuda", "hip")], folder, PROGRAMS / "cuda_batches.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_arrays.cpp", "batches.cpp", "cuda_runtime_api.h")))
        defined = ["-DHIP"] if is_hip else [f"-DVERSION={version}"]
        parts = [sources / name for name in ("cudart.cpp", "cudart_arrays.cpp", "batches.cpp")]
        libraries = [standin(folder, f"lib{'amdhip64' if is_hip else 'cudart'}.so.{version}", *parts, link=["-DRUNTIME", *defined])]
        if not is_hip:
            libraries.append(standin(folder, "libcuda.so.1", parts[-1]))
        for name, program in build_programs(build, folder, sources / "cuda_batches.c", f"-I{sources}", *defined, *libraries).items():
            run, _ = watched(msleaks, folder, program)
            copies = events_of(msleaks, run, "copy")
            equal(f"{version}, {name}", [(copy["size"], copy["stream"] >> 12, "async" in copy["flags"]) for copy in copies], wanted(is_hip, version))
            check(all(copy["source"] != 0 and copy["destination"] != 0 for copy in copies), f"{version}, {name}: a copy has no end: {copies}")
            equal(f"{version}, {name}: refused", len(events_of(msleaks, run, "failed")), 1)
            print(f"version {version}, {name}: {len(copies)} copies")


if __name__ == "__main__":
    main()
