#!/usr/bin/env python3
"""Tests the count of OpenCL's contexts, queues, programs, kernels, samplers and events on the driver PoCL. OpenCL counts references to
these objects. The report names the line that created an object that was not released. The test runs once with hooks alone, and once
with hooks and plugin. A library in front of PoCL creates programs from SPIR-V, which PoCL itself does not accept.
   usage: opencl_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import opencl_behind  # noqa: E402
from msleaks_handles import PROGRAMS, compiled, expect_forgotten  # noqa: E402
from msleaks_e2e import Msleaks, arguments, run, skip  # noqa: E402

SOURCE = PROGRAMS / "opencl.c"


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    for name, program in compiled(build, scratch, SOURCE, *opencl_behind(scratch, "more_opencl")).items():
        if run([program]).returncode == 77:
            skip("no OpenCL device; pocl-opencl-icd brings one")
        expect_forgotten(Msleaks(build), f"{scratch}/{name}", SOURCE, program)


if __name__ == "__main__":
    main()
