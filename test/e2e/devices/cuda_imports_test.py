#!/usr/bin/env python3
"""Tests memory of another process or driver that a program opens by CUDA or by HIP. It has a place and uses, but is no memory of the
program: it is in no total, and never a leak.
   usage: cuda_imports_test.py BUILD SCRATCH cuda_imports|hip_imports
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, equal, events_of, expect_allocations, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, check, line_of

WEIGHTS, CACHE, TEXTURE, ARRAY = 1 << 20, 1 << 19, 1 << 18, (16 * 4 + 8 * 2) * 4
# The driver's functions have other names in HIP, so that they do not become HIP's functions twice.
HIP = [(r"cuda(?!rt\.cpp)", "hip"), ("cuMemGetAddressRange_v2", "hipMemGetAddressRange"), (r"\bcu(?=Ipc|Mem|External|Mipmapped)", "inner")]


def built(topic, folder, scratch):
    both = [folder / "cudart_imports.cpp", folder / "libcuda_imports.cpp"]
    if topic.startswith("hip"):
        return [standin(scratch, "libamdhip64.so.6", *both), "-DHIP"]
    driver = standin(scratch, "libcuda.so.1", both[1])
    return [standin(scratch, "libcudart.so.12", both[0], link=[driver]), driver]


def opened_by(report, source):
    """Returns [(comment of the line, bytes, blocks, uses, still open at the end)]."""
    lines = source.read_text().splitlines()
    return sorted((lines[row[0]["line"] - 1].split("// ")[1], *row[1:]) for row in report.rows("imported") if "//" in lines[row[0]["line"] - 1])


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    files = [PROGRAMS / "cuda_imports.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cudart_imports.cpp", "libcuda_imports.cpp", "cuda_runtime_api.h"))]
    folder = sources_for(topic, HIP, scratch, *files)
    msleaks, source = Msleaks(build), folder / "cuda_imports.c"
    of_driver = [] if topic.startswith("hip") else [5000, 0, 6000, 16 * 4 * 4]
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *built(topic, folder, scratch)).items():
        run, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, run, [("device", 0, 1000)])
        expect_golden(msleaks, run, topic)
        opened = [event["size"] for event in events_of(msleaks, run, "alloc") if event["heap"] == "imported" and "restored" not in event["flags"]]
        equal(f"{name}: opened", opened, [WEIGHTS, WEIGHTS, CACHE, 0, TEXTURE, ARRAY, *of_driver])
        equal(f"{name}: by place", opened_by(report, source),
              [("array", ARRAY, 1, 0, 0), ("left open", CACHE, 1, 0, 1), ("of a pool", 0, 1, 0, 0), ("texture", TEXTURE, 1, 1, 0), ("weights", WEIGHTS, 1, 2, 0)])
        equal(f"{name}: leaks", [finding["heap"] for finding in report.json["findings"] if finding["kind"] == "leak" and finding["heap"] != "host"], [])
        check(report.json["leaks"]["bytes"] < CACHE, f"{name}: the leaks have {report.json['leaks']['bytes']} bytes")  # of the stand-in
        equal(f"{name}: peak of the device", report.heap_peak_bytes("device"), 1000)
        equal(f"{name}: peak of imported memory", report.heap_peak_bytes("imported"), WEIGHTS)
        equal(f"{name}: frees of no block", report.json["blocks"]["unmatched_frees"], 1)  # the refused close
        copies = [finding["evidence"] for finding in report.json["findings"] if finding["kind"] == "copy"]
        equal(f"{name}: copied to", [f"cuda_imports.c:{line_of(source, '// weights')}" in str(copy["copied_to"]) for copy in copies], [True])
        print(f"{name}: {opened}")


if __name__ == "__main__":
    main()
