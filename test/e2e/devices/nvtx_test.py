#!/usr/bin/env python3
"""Tests the recording of NVTX, NVIDIA's annotation API. A program that includes NVTX's own header runs under msleaks. The trace must
contain the program's marks and ranges, and the program gets the same results as without a tool. If NVTX_INJECTION64_PATH already names
another tool, msleaks-run does not change this variable.
   usage: nvtx_test.py BUILD SCRATCH
"""
import os
import shutil
import subprocess
import sys

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, equal, events_of, expect_golden, watched
from msleaks_e2e import arguments, run

SOURCE = PROGRAMS / "nvtx.c"
MARKS = ["mark", "wide \u00e9 \u20ac \U0001f600", "attributes", "marked in a domain"]
RANGES = ["forward", "inner", "attributes", "handed over", "registered", "ranged in a domain"]


def headers():
    done = subprocess.run([STANDINS / "cuda/headers.sh"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout.strip()


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{headers()}", "-ldl").items():
        folder, _ = watched(msleaks, scratch, program)
        expect_golden(msleaks, folder, "nvtx")
        equal(f"{name}: marks", [event["label"] for event in events_of(msleaks, folder, "mark")], MARKS)
        begins = events_of(msleaks, folder, "range-begin")
        equal(f"{name}: ranges", [event["label"] for event in begins], RANGES)
        ends = events_of(msleaks, folder, "range-end")
        equal(f"{name}: ends", sorted(event["id"] for event in ends), sorted(event["id"] for event in begins))
        handed = next(event for event in begins if event["label"] == "handed over")
        equal(f"{name}: ended in another thread", [event["tid"] == handed["tid"] for event in ends if event["id"] == handed["id"]], [False])
        print(f"{name}: {RANGES}")
    shutil.rmtree(f"{scratch}/theirs", ignore_errors=True)
    environment = dict(os.environ, NVTX_INJECTION64_PATH="/nowhere/tool.so")
    done = run([msleaks.bin / "msleaks-run", "--no-report", "-o", f"{scratch}/theirs", "--", "sh", "-c", "echo $NVTX_INJECTION64_PATH"], env=environment)
    equal("the user's tool", done.stdout, "/nowhere/tool.so\n")


if __name__ == "__main__":
    main()
