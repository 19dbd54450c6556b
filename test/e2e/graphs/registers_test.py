#!/usr/bin/env python3
"""Assembles counted kernels of CUDA and HIP for old and new processors. The assemblers must accept the kernels and spill no register.
Prints a table of the registers that the kernels need.

    registers_test.py BUILD SCRATCH LLVM
"""
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, need, run  # noqa: E402
from without_sdk import cuda_tool, device_options  # noqa: E402

SOURCE = REPOSITORY / "test/lit/graphs/kernels.cu"
MOST_MORE = 16  # with few counters, a counted kernel may need at most this many registers more than the original kernel
BUILDS = {"none": "off", "few": "cfg", "all": "cfg;counters=all"}
CUDA, HIP = ("sm_70", "sm_90"), ("gfx906", "gfx90a", "gfx942", "gfx1100")


def compiled(msleaks, passes, options, output):
    command = [need(msleaks.compiler("c++")), "-Wno-everything", "-O2", f"-fpass-plugin={msleaks.plugin}", *options, SOURCE]
    done = run([*command, "-o", output], env={**os.environ, "MSLEAKS_PASS": passes})
    check(done.returncode == 0, f"{passes}: {done.stderr}")
    return output


def of_cuda(msleaks, passes, processor, ptxas, scratch):
    """Returns the number of registers of each kernel."""
    ptx = compiled(msleaks, passes, (*device_options("cuda", processor), "-S"), f"{scratch}/kernels.ptx")
    done = run([ptxas, f"-arch={processor}", "-v", ptx, "-o", f"{scratch}/kernels.cubin"])
    check(done.returncode == 0, f"ptxas, {processor}, {passes}: {done.stderr}")
    said = done.stdout + done.stderr
    spilled = re.findall(r"(\d+) bytes spill", said)
    check(spilled and set(spilled) == {"0"}, f"{processor}, {passes}: registers are spilled:\n{said}")
    return {name: int(registers) for name, registers in
            re.findall(r"Compiling entry function '(\w+)'(?:.|\n)*?Used (\d+) registers", said)}


def of_hip(msleaks, passes, processor, scratch):
    code, image = f"{scratch}/kernels.o", f"{scratch}/kernels.co"
    bitcode = compiled(msleaks, passes, (*device_options("hip", processor), "-emit-llvm", "-c"), f"{scratch}/kernels.bc")
    tool = {name: need(f"{name}-{msleaks.llvm}") for name in ("llc", "ld.lld", "llvm-readelf")}
    for command in ([tool["llc"], "-O2", "-filetype=obj", f"-mcpu={processor}", bitcode, "-o", code],
                    [tool["ld.lld"], "-shared", code, "-o", image]):
        check(subprocess.run(command).returncode == 0, f"{processor}, {passes}: {command[0]} refuses it")
    notes = run([tool["llvm-readelf"], "--notes", image]).stdout
    spilled = re.findall(r"\.vgpr_spill_count: +(\d+)", notes)
    check(spilled and set(spilled) == {"0"}, f"{processor}, {passes}: registers are spilled:\n{notes}")
    return {name: int(registers) for name, registers in
            re.findall(r"\.name: +(\w+)\n(?:.|\n)*?\.vgpr_count: +(\d+)", notes)}


def counts_of(registers, name, build):
    return registers[name if build == "none" else f"__msl_counted_{name}"]


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    ptxas = cuda_tool("ptxas")
    targets = {processor: partial(of_cuda, msleaks, processor=processor, ptxas=ptxas, scratch=scratch) for processor in CUDA}
    targets.update({processor: partial(of_hip, msleaks, processor=processor, scratch=scratch) for processor in HIP})
    for target, registers_of in targets.items():
        registers = {build: registers_of(passes=passes) for build, passes in BUILDS.items()}
        kernels = sorted(registers["none"])
        check(kernels == ["_Z6chooseILi3EEvPi", "_Z6reducePi"], f"{target}: kernels {kernels}")
        for kernel in kernels:
            row = {build: counts_of(registers[build], kernel, build) for build in BUILDS}
            originals = {build: registers[build][kernel] for build in BUILDS}
            print(f"{target} {kernel}: {row}")
            check(len(set(originals.values())) == 1, f"{target}: the kernel itself has changed: {originals}")
            check(row["few"] <= row["none"] + MOST_MORE, f"{target}: counters need too many registers: {row}")
            check(row["few"] <= row["all"], f"{target}: fewer counters need more registers: {row}")


if __name__ == "__main__":
    main()
