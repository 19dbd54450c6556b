#!/usr/bin/env python3
"""Tests resets of a device by CUDA or by HIP. All blocks and handles of the device end, and are no leaks. A free of such a block is refused, and is
no free of an unknown block. Blocks of other devices stay alive, and so do all blocks if the reset is refused.
   usage: cuda_reset_test.py BUILD SCRATCH cuda_reset|hip_reset
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, line_of


def built(topic, folder, scratch):
    if topic.startswith("hip"):
        return [standin(scratch, "libamdhip64.so.6", folder / "cudart_reset.cpp"), "-DHIP"]
    return [standin(scratch, "libcudart.so.12", folder / "cudart_reset.cpp"), standin(scratch, "libcuda.so.1", folder / "libcuda_reset.cpp")]


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    is_hip = topic.startswith("hip")
    os.environ["STANDIN_FAIL"] = f"{'hip' if is_hip else 'cuda'}DeviceReset:3:1"
    files = [PROGRAMS / "cuda_reset.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_reset.cpp", "libcuda_reset.cpp", "cuda_runtime_api.h"))]
    folder = sources_for(topic, [(r"cuda(?!rt\.cpp)", "hip")], scratch, *files)
    msleaks, source = Msleaks(build), folder / "cuda_reset.c"
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *built(topic, folder, scratch)).items():
        run, report = watched(msleaks, scratch, program)
        expect_golden(msleaks, run, topic)
        resets = [event["device"] for event in events_of(msleaks, run, "free") if event["heap"] == "device" and event["address"] in (0, "0x0", None)]
        equal(f"{name}: devices of the resets", resets, [1, 0] if is_hip else [1, 0, 1, 1])
        leak = ("device", 0, 1, 1003, line_of(source, "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        left = sum(handle["count"] for handle in report.json["handles"] if handle["kind"] == "stream")
        equal(f"{name}: streams of devices that were not reset", left, 1 if is_hip else 0)
        equal(f"{name}: frees of no block", (report.json["blocks"]["unmatched_frees"], report.json["blocks"]["implicit_frees"]), (0, 0))
        print(f"{name}: {leak}")


if __name__ == "__main__":
    main()
