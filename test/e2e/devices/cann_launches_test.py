#!/usr/bin/env python3
"""Launches Ascend kernels by each launch function, with the older ACL and with the ACL of CANN 8 and later. The later ACL forwards
each call to a library below it, but msleaks records only one launch. A launch has its kernel's name if the program registered the
kernel or looked it up, also in a binary with several kernels.
   usage: cann_launches_test.py BUILD SCRATCH
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, ascend, ascend_layers, build_programs, compile, equal, events_of, expect_allocations, expect_counts,
                        watched)
from msleaks_e2e import arguments, need

FOLDER, SOURCE = STANDINS / "cann", PROGRAMS / "cann_launches.c"
NAMES = ["by_name", "kernel_12", None, "host_arguments", "MatMul__kernel0", None, None, *["by_name"] * 6, "Add", "MatMul", "TopK", "Cast",
         "MatMul__kernel0", "MatMul", "rts_by_name", "kernel_21", "binary_by_name", "kernel_23",
         None]  # the last launch is refused


def binaries(folder):
    """Compiles object files for the host that have the same layout as files with device kernels."""
    os.makedirs(folder, exist_ok=True)
    for name, kernels in ("one", ["Add"]), ("many", ["MatMul_0", "MatMul_2_mix_aic", "MatMul_2_mix_aiv"]):
        source = f"{folder}/{name}.c"
        with open(source, "w") as file:
            file.write("static void helper(void) {}\n" + "".join(f"void {kernel}(void) {{ helper(); }}\n" for kernel in kernels))
        compile(need("gcc"), "-c", source, "-o", f"{folder}/{name}.o")
    os.environ["BINARIES"] = folder


def expect_launches(msleaks, run):
    launches = events_of(msleaks, run, "launch")
    equal("launches", [launch["grid_x"] for launch in launches], [*range(1, len(NAMES)), 1])
    equal("names", [launch["name"] for launch in launches], NAMES)
    equal("one stream", len({launch["stream"] for launch in launches}), 1)
    expect_counts(msleaks, run, failed=1, copy=0, set=0)
    expect_allocations(msleaks, run, [("device", 1, 4321)])


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    binaries(f"{scratch}/binaries")
    for has_layers in False, True:
        folder = f"{scratch}/{'layers' if has_layers else 'plain'}"
        os.makedirs(folder, exist_ok=True)
        libraries = ascend_layers(folder) if has_layers else ascend(folder)
        for name, program in build_programs(build, folder, SOURCE, f"-I{FOLDER}", "-rdynamic", *libraries).items():
            run, report = watched(msleaks, folder, program)
            expect_launches(msleaks, run)
            equal(f"{name}: leaks of the device", [finding for finding in report.json["findings"] if finding["kind"] == "leak" and finding["heap"] == "device"], [])
    print("ok")


if __name__ == "__main__":
    main()
