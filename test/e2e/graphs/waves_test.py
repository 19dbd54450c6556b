#!/usr/bin/env python3
"""The threads of a wave that run over the same edge add to its counter together: so the assemblers of CUDA and HIP make it of the plugin's atomic
additions, as long as all of them have one address. One thread of the wave adds how many they are.

    waves_test.py BUILD SCRATCH LLVM
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, need, run, skip  # noqa: E402

SOURCE = REPOSITORY / "test/e2e/graphs/programs/device_edges.cu"
CUDA = ("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx78", "--cuda-path=/nowhere",
        "-Xclang", "-target-sdk-version=12.0")
HIP = ("-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--offload-arch=gfx90a")


def assembly(msleaks, options, output):
    command = [msleaks.compiler("c++"), "-Wno-everything", "-O2", f"-fpass-plugin={msleaks.plugin}", *options, SOURCE, "-o", output]
    done = run(command, env={**os.environ, "MSLEAKS_PASS": "cfg"})
    check(done.returncode == 0, done.stderr)
    return output


def fetched(script):
    found = run([REPOSITORY / "test/standins/cuda" / script])
    if found.returncode != 0:
        skip(f"{script}: CUDA's tools cannot be had")
    return found.stdout.strip()


def of_cuda(msleaks, scratch):
    """What the machine runs, by kernel."""
    ptx, binary = assembly(msleaks, (*CUDA, "-S"), f"{scratch}/edges.ptx"), f"{scratch}/edges.cubin"
    done = run([fetched("ptxas.sh"), "-arch=sm_90", ptx, "-o", binary])
    check(done.returncode == 0, done.stderr)
    text = run([fetched("nvdisasm.sh"), binary]).stdout
    return {name: body for name, body in re.findall(r"^\.text\.(\w+):\n((?:.*\n)*?)(?=^\.text\.|\Z)", text, re.MULTILINE)}


def of_hip(msleaks, scratch, llvm):
    code = assembly(msleaks, (*HIP, "-S", "-emit-llvm"), f"{scratch}/edges.ll")
    text = run([need(f"llc-{llvm}"), "-O2", "-mcpu=gfx90a", code, "-o", "-"]).stdout
    return {name: body for name, body in re.findall(r"^(\w+): +; @\w+\n((?:.*\n)*?)\.Lfunc_end", text, re.MULTILINE)}


def expect_together(target, code, adds, counts_lanes):
    kernel, copy = code.get("edges"), code.get("__msl_counted_edges")
    check(kernel and copy, f"{target}: functions {sorted(code)}")
    check(not re.search(counts_lanes, kernel), f"{target}: the kernel itself counts")
    # The number of threads that come in, which one of them adds, and the three ways of its switch that have counters.
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
