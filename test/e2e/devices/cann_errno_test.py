#!/usr/bin/env python3
"""Tests that the hooks of Ascend's libraries leave errno unchanged. The hooks call functions of ACL, the runtime, the driver and
ATB, and these functions do change errno. A watch also makes the hooks read a block before and after each call. The test runs with
ACL as one library, and with ACL as two libraries.
   usage: cann_errno_test.py BUILD SCRATCH
"""
import os

from cuda_errno_test import expect_kept
from device_run import PROGRAMS, STANDINS, ascend, ascend_layers, standin
from msleaks_e2e import arguments


def main():
    build, scratch = arguments("build", "scratch")
    os.environ["STANDIN_HIDDEN"] = "1"  # the host cannot read device memory, so a watch must call the library
    for layout, libraries_of in ("face", ascend), ("layers", ascend_layers):
        folder = f"{scratch}/{layout}"
        os.makedirs(folder, exist_ok=True)
        libraries = libraries_of(folder)
        atb = standin(folder, "libatb.so", STANDINS / "cann/atb.cpp", link=[libraries[0]])
        expect_kept(build, folder, PROGRAMS / "cann_errno.c", f"-I{STANDINS}/cann", atb, *libraries, "-ldl")


if __name__ == "__main__":
    main()
