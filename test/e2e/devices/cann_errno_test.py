#!/usr/bin/env python3
"""The hooks of Ascend's libraries do not change errno, although the functions that hooks call in ACL, the runtime, the driver and
ATB do. A watch reads the block before and after each call. ACL is tested in both layouts.
   usage: cann_errno_test.py BUILD SCRATCH
"""
import os

from cuda_errno_test import expect_kept
from device_run import PROGRAMS, STANDINS, ascend, ascend_layers, standin
from msleaks_e2e import arguments


def main():
    build, scratch = arguments("build", "scratch")
    os.environ["STANDIN_HIDDEN"] = "1"  # so reading a block also calls the library
    for layout, libraries_of in ("face", ascend), ("layers", ascend_layers):
        folder = f"{scratch}/{layout}"
        os.makedirs(folder, exist_ok=True)
        libraries = libraries_of(folder)
        atb = standin(folder, "libatb.so", STANDINS / "cann/atb.cpp", link=[libraries[0]])
        expect_kept(build, folder, PROGRAMS / "cann_errno.c", f"-I{STANDINS}/cann", atb, *libraries, "-ldl")


if __name__ == "__main__":
    main()
