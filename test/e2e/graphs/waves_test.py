#!/usr/bin/env python3
"""Checks that counted kernels of CUDA and HIP make one atomic addition for each wave. Several threads of a wave may add to the same
counter. In this case the code counts these threads, and one thread adds their number.

    waves_test.py BUILD SCRATCH LLVM
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, need, run  # noqa: E402
from without_sdk import cuda_tool, device_options  # noqa: E402

SOURCE = REPOSITORY / "test/e2e/graphs/programs/device_edges.cu"


def assembly(msleaks, options, output):
    command = [msleaks.compiler("c++"), "-Wno-everything", "-O2", f"-fpass-plugin={msleaks.plugin}", *options, SOURCE, "-o", output]
    done = run(command, env={**os.environ, "MSLEAKS_PASS": "cfg"})
    check(done.returncode == 0, done.stderr)
    return output


def of_cuda(msleaks, scratch):
    """Returns the machine instructions of each kernel."""
    ptx, binary = assembly(msleaks, (*device_options("cuda"), "-S"), f"{scratch}/edges.ptx"), f"{scratch}/edges.cubin"
    done = run([cuda_tool("ptxas"), "-arch=sm_90", ptx, "-o", binary])
    check(done.returncode == 0, done.stderr)
    text = run([cuda_tool("nvdisasm"), binary]).stdout
    return {name: body for name, body in re.findall(r"^\.text\.(\w+):\n((?:.*\n)*?)(?=^\.text\.|\Z)", text, re.MULTILINE)}


def of_hip(msleaks, scratch, llvm):
    code = assembly(msleaks, (*device_options("hip"), "-S", "-emit-llvm"), f"{scratch}/edges.ll")
    text = run([need(f"llc-{llvm}"), "-O2", "-mcpu=gfx90a", code, "-o", "-"]).stdout
    return {name: body for name, body in re.findall(r"^(\w+): +; @\w+\n((?:.*\n)*?)\.Lfunc_end", text, re.MULTILINE)}


def expect_together(target, code, adds, counts_lanes):
    kernel, copy = code.get("edges"), code.get("__msl_counted_edges")
    check(kernel and copy, f"{target}: functions {sorted(code)}")
    check(not re.search(counts_lanes, kernel), f"{target}: the kernel itself counts")
    # The kernel has one counter for the threads that enter the kernel, and one for each of three cases of the switch. At most one
    # addition may be made without counting the threads of the wave.
    added, together = len(re.findall(adds, copy)), len(re.findall(counts_lanes, copy))
    check(added >= 3, f"{target}: {added} additions in\n{copy}")
    check(together >= added - 1, f"{target}: {together} of {added} additions are of a wave's threads together:\n{copy}")
    print(f"{target}: {added} additions, {together} times the threads of a wave are counted")


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    expect_together("gfx90a", of_hip(msleaks, scratch, llvm), r"\bglobal_atomic_add_x2\b", r"\bs_bcnt1_i32_b64\b")
    expect_together("sm_90", of_cuda(msleaks, scratch), r"\b(?:RED|ATOM)G\.E\.ADD\.64\b", r"\bU?POPC\b")


if __name__ == "__main__":
    main()
