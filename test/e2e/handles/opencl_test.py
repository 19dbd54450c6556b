#!/usr/bin/env python3
"""Contexts, queues, programs, kernels, samplers and events of OpenCL on PoCL: by their counts of owners, each at the line that made it, by hooks alone
and beside the plugin.   usage: opencl_test.py BUILD SCRATCH
"""
import os

from msleaks_handles import PROGRAMS, compiled, expect_forgotten
from msleaks_e2e import Msleaks, arguments, run, skip

SOURCE = PROGRAMS / "opencl.c"


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    for name, program in compiled(build, scratch, SOURCE, "-lOpenCL").items():
        if run([program]).returncode == 77:
            skip("no OpenCL device; pocl-opencl-icd brings one")
        expect_forgotten(Msleaks(build), f"{scratch}/{name}", SOURCE, program)


if __name__ == "__main__":
    main()
