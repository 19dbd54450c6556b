#!/usr/bin/env python3
"""Tests the hooks of OpenCL (hooks/opencl/opencl.cpp) on the driver PoCL. For a host program without instrumentation, the hooks must record
the same events as the plugin does. For an instrumented host program, each call must be recorded once.

    opencl_test.py BUILD SCRATCH
"""
import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, expect_same, need, run, skip  # noqa: E402

SOURCE = REPOSITORY / "examples/opencl_train/train.cpp"
STEPS = 10
LEAKED = 4 * 256 * 256


def device_events(msleaks, folder):
    """Returns the number of events of each kind that concern the device."""
    lines = msleaks.output("dump", folder).splitlines()
    return Counter(kind for line in lines for kind in ("Alloc", "Free", "Launch", "Access", "Copy", "Set")
                   if f" {kind} " in f" {line} " and " device" in line)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    plain, instrumented = f"{scratch}/plain", f"{scratch}/instrumented"
    check(run([need("g++"), "-std=c++20", "-O1", SOURCE, "-o", plain, "-lOpenCL"]).returncode == 0, "does not compile")
    msleaks.compile(SOURCE, instrumented, "-lOpenCL")
    options = ["--steps", str(STEPS), "--plant", "leak"]
    alone = run([plain, *options], cwd=REPOSITORY)
    if "no OpenCL device" in alone.stderr:
        skip("no OpenCL device; pocl-opencl-icd brings one")

    seen = {}
    for name, program in ("plain", plain), ("instrumented", instrumented):
        folder = f"{scratch}/{name}.run"
        done, report = msleaks.run(folder, [program, *options], cwd=REPOSITORY)
        expect_same(alone, done)
        report.expect_account()
        report.expect_sums()
        leaks = [row for row in report.sites("leaks") if row["heap"] == "device"]
        check([(row["count"], row["bytes"]) for row in leaks] == [(STEPS, STEPS * LEAKED)], f"{name}: leaks {leaks}")
        seen[name] = report.heap_peak_bytes("device"), device_events(msleaks, folder)
        check(all(seen[name][1][kind] for kind in ("Alloc", "Free", "Launch", "Access", "Copy")), f"{name}: {seen[name]}")
    check(seen["plain"] == seen["instrumented"], f"hooks and callbacks do not see the same: {seen}")
    print(f"recorded once: {dict(seen['plain'][1])}")


if __name__ == "__main__":
    main()
