#!/usr/bin/env python3
"""Tests graphs of CUDA and of HIP that allocate memory. A captured allocation, or a node, only reserves an address. The memory is there
from a launch until a node or the program frees it. It outlives the graph.
   usage: cuda_graphs_test.py BUILD SCRATCH cuda_graphs|hip_graphs
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, line_of

BEFORE, KEPT, WITHIN = 1 << 12, 1 << 20, 2 << 20


def built(topic, folder, scratch):
    if topic.startswith("hip"):
        return [standin(scratch, "libamdhip64.so.6", folder / "cudart_graphs.cpp")]
    return [standin(scratch, "libcudart.so.12", folder / "cudart_graphs.cpp")]



def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    files = [PROGRAMS / "cuda_graphs.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_capture.cpp", "cudart_graphs.cpp", "cuda_runtime_api.h"))]
    folder = sources_for(topic, [(r"cuda(?!rt(_\w+)?\.cpp)", "hip")], scratch, *files)
    msleaks, source = Msleaks(build), folder / "cuda_graphs.c"
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *built(topic, folder, scratch)).items():
        run, report = watched(msleaks, scratch, program)
        if name == "hooks":  # with the plugin, a captured free is recorded, and is no free
            expect_golden(msleaks, run, topic)
        equal(f"{name}: peak of the device", report.heap_peak_bytes("device"), KEPT + WITHIN)
        equal(f"{name}: leaks", device_leaks(report), [("device", 0, 1, KEPT, line_of(source, "// kept"))])
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        equal(f"{name}: frees of no block", (report.json["blocks"]["unmatched_frees"], report.json["blocks"]["implicit_frees"]), (0, 0))
        run, report = watched(msleaks, scratch, program, "unlaunched")
        equal(f"{name}: peak without a launch", report.heap_peak_bytes("device"), BEFORE)
        equal(f"{name}: leaks without a launch", device_leaks(report), [])
        print(f"{name}: {[event['size'] for event in events_of(msleaks, run, 'alloc') if event['heap'] == 'device']}")


if __name__ == "__main__":
    main()
