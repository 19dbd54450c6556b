#!/usr/bin/env python3
"""Counted kernels of CUDA and HIP are taken by the assemblers, and spill no register; how many they need, as a table.

    registers_test.py BUILD SCRATCH
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, need, run, skip  # noqa: E402

SOURCE = REPOSITORY / "test/lit/graphs/kernels.cu"
BUILDS = {"none": "off", "few": "cfg", "all": "cfg;counters=all"}
# Declarations of the source's own instead of an SDK's.
CUDA = ("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx78",
        "--cuda-path=/nowhere", "-Xclang", "-target-sdk-version=12.0", "-S")
HIP = ("-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--offload-arch=gfx90a", "-emit-llvm", "-c")


def compiled(msleaks, passes, options, output):
    command = [msleaks.compiler("c++"), "-Wno-everything", "-O2", f"-fpass-plugin={msleaks.plugin}", *options, SOURCE]
    done = run([*command, "-o", output], env={**os.environ, "MSLEAKS_PASS": passes})
    check(done.returncode == 0, f"{passes}: {done.stderr}")
    return output


def of_cuda(msleaks, passes, ptxas, scratch):
    """Registers by kernel."""
    ptx = compiled(msleaks, passes, CUDA, f"{scratch}/kernels.ptx")
    done = run([ptxas, "-arch=sm_90", "-v", ptx, "-o", f"{scratch}/kernels.cubin"])
    check(done.returncode == 0, f"ptxas, {passes}: {done.stderr}")
    said = done.stdout + done.stderr
    spilled = re.findall(r"(\d+) bytes spill", said)
    check(all(amount == "0" for amount in spilled), f"{passes}: registers are spilled:\n{said}")
    return {name: int(registers) for name, registers in
            re.findall(r"Compiling entry function '(\w+)'(?:.|\n)*?Used (\d+) registers", said)}


def of_hip(msleaks, passes, scratch):
    code, image = f"{scratch}/kernels.o", f"{scratch}/kernels.co"
    bitcode = compiled(msleaks, passes, HIP, f"{scratch}/kernels.bc")
    for command in ([need("llc-22"), "-O2", "-filetype=obj", "-mcpu=gfx90a", bitcode, "-o", code],
                    [need("ld.lld-22"), "-shared", code, "-o", image]):
        check(subprocess.run(command).returncode == 0, f"{passes}: {command[0]} refuses it")
    notes = run([need("llvm-readelf-22"), "--notes", image]).stdout
    return {name: int(registers) for name, registers in
            re.findall(r"\.name: +(\w+)\n(?:.|\n)*?\.vgpr_count: +(\d+)", notes)}


def counts_of(registers, name, build):
    return registers[name if build == "none" else f"__msl_counted_{name}"]


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    found = run([REPOSITORY / "test/standins/cuda/ptxas.sh"])
    if found.returncode != 0:
        skip("CUDA's assembler cannot be had")
    targets = {"sm_90": lambda passes: of_cuda(msleaks, passes, found.stdout.strip(), scratch),
               "gfx90a": lambda passes: of_hip(msleaks, passes, scratch)}
    for target, registers_of in targets.items():
        registers = {build: registers_of(passes) for build, passes in BUILDS.items()}
        kernels = sorted(registers["none"])
        check(kernels == ["_Z6chooseILi3EEvPi", "_Z6reducePi"], f"{target}: kernels {kernels}")
        for kernel in kernels:
            row = {build: counts_of(registers[build], kernel, build) for build in BUILDS}
            originals = {build: registers[build][kernel] for build in BUILDS}
            print(f"{target} {kernel}: {row}")
            check(len(set(originals.values())) == 1, f"{target}: the kernel itself has changed: {originals}")
            check(row["few"] <= row["all"], f"{target}: fewer counters need more registers: {row}")


if __name__ == "__main__":
    main()
