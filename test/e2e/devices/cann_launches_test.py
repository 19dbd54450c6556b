#!/usr/bin/env python3
"""Each way to launch a kernel on Ascend, with ACL as it was and as it is from CANN 8 on, where it forwards to a layer below it that others call, too: each
call counts once, and each kernel has the name under which it was registered, also one of a whole binary.   usage: cann_launches_test.py BUILD SCRATCH
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, compile, equal, events_of, expect_allocations, expect_counts, standin, watched)
from msleaks_e2e import arguments, need

FOLDER, SOURCE = STANDINS / "cann", PROGRAMS / "cann_launches.c"
NAMES = ["by_name", "kernel_12", None, "host_arguments", "MatMul__kernel0", None, None, *["by_name"] * 6, "Add", "MatMul", "TopK", "Cast"]


def binaries(folder):
    """ELF, of the host's processor, as that of a device is."""
    os.makedirs(folder, exist_ok=True)
    for name, kernels in ("one", ["Add"]), ("many", ["MatMul_0", "MatMul_2_mix_aic", "MatMul_2_mix_aiv"]):
        source = f"{folder}/{name}.c"
        with open(source, "w") as file:
            file.write("static void helper(void) {}\n" + "".join(f"void {kernel}(void) {{ helper(); }}\n" for kernel in kernels))
        compile(need("gcc"), "-c", source, "-o", f"{folder}/{name}.o")
    os.environ["BINARIES"] = folder


def libraries(scratch, has_layers):
    driver = standin(scratch, "libascend_hal.so", FOLDER / "driver.cpp")
    runtime = standin(scratch, "libruntime.so", FOLDER / "runtime.cpp")
    if not has_layers:
        return [standin(scratch, "libascendcl.so", FOLDER / "ascendcl.cpp", link=[driver, runtime]), driver, runtime]
    below = standin(scratch, "libacl_rt_impl.so", FOLDER / "ascendcl.cpp", link=["-DSTANDIN_IMPL", driver, runtime])
    return [standin(scratch, "libascendcl.so", FOLDER / "forwards.cpp", link=[below]), below, driver, runtime]


def expect_launches(msleaks, run, has_layers):
    launches = events_of(msleaks, run, "launch")
    names = NAMES + [None] * (2 if has_layers else 1)  # the last one is refused
    equal("launches", [launch["grid_x"] for launch in launches], [*range(1, len(names)), 1])
    equal("names", [launch["name"] for launch in launches], names)
    equal("one stream", len({launch["stream"] for launch in launches}), 1)
    expect_counts(msleaks, run, failed=1, copy=int(has_layers), set=int(has_layers))
    expect_allocations(msleaks, run, [("device", 1, 4321), *[("device", 1, 12345)] * has_layers])


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    binaries(f"{scratch}/binaries")
    for has_layers in False, True:
        folder = f"{scratch}/{'layers' if has_layers else 'plain'}"
        os.makedirs(folder, exist_ok=True)
        for name, program in build_programs(build, folder, SOURCE, f"-I{FOLDER}", "-rdynamic", *libraries(folder, has_layers)).items():
            run, report = watched(msleaks, folder, program, *["layers"] * has_layers)
            expect_launches(msleaks, run, has_layers)
            equal(f"{name}: leaks of the device", [finding for finding in report.json["findings"] if finding["kind"] == "leak" and finding["heap"] == "device"], [])
    print("ok")


if __name__ == "__main__":
    main()
