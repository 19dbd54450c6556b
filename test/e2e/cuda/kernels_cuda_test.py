#!/usr/bin/env python3
"""Tests kernels that count their own control flow, on a real GPU. The driver compiles the PTX of these counted kernels, and hooks
launch them in place of the program's kernels. The program gets the same results as without msleaks. In mode `full` each count
equals the expected number. The report marks counts from a sample of the threads, and launches that were not counted.

    kernels_cuda_test.py BUILD SCRATCH              compiles the kernels with BUILD's plugin, and runs them
    kernels_cuda_test.py BUILD SCRATCH prepare      only compiles them, on a machine that may have no GPU
    kernels_cuda_test.py BUILD SCRATCH FOLDER       runs the kernels that `prepare` compiled in FOLDER; it needs no compiler
"""
import ctypes
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "graphs"))
import modules_test as modules  # noqa: E402
from msleaks_e2e import Msleaks, arguments  # noqa: E402

OLDEST = "sm_70"  # PTX for sm_70 runs on all later GPUs
PASSES = {"counted": "cfg", "all": "cfg;counters=all", "calls": "cfg;counters=calls", "in-kernel": "cfg;in-kernel"}
WAYS = ([], ["packed"], ["config"], ["library"], ["reload"], ["shared"])


def path_of_driver():
    ctypes.CDLL("libcuda.so.1")
    return re.search(r"\S*libcuda\.so\S*", Path("/proc/self/maps").read_text()).group()


class Gpu(modules.Device):
    def module(self, name):
        code = self.scratch / f"{name}.ptx"
        modules.device_code("cuda", self.msleaks.plugin, PASSES[name], code, self.msleaks.compiler("c++"), processor=OLDEST, form=["-S"])
        return str(code)


class PreparedGpu(modules.Device):
    """Runs the programs of a folder that prepare() filled."""

    def __init__(self, msleaks, scratch, folder):
        self.msleaks, self.scratch, self.topic, self.folder = msleaks, Path(scratch), "cuda", Path(folder)
        self.host = str(self.folder / "host")

    def module(self, name):
        return str(self.folder / f"{name}.ptx")


def prepare(msleaks, folder):
    gpu = Gpu(msleaks, folder, "cuda")
    for name in PASSES:
        gpu.module(name)
    os.remove(gpu.driver)  # the stand-in that the host program was linked with; the program shall find the GPU's driver


def check_kernels(gpu):
    module, in_kernel = gpu.module("counted"), gpu.module("in-kernel")
    for how in WAYS:
        modules.expect_hand_count(f"on a GPU, {how}", gpu.run(module, *how))
        modules.expect_hand_count(f"on a GPU, in kernel, {how}", gpu.run(in_kernel, *how))
    for counters in "all", "calls":
        modules.expect_hand_count(f"on a GPU, {counters}", gpu.run(gpu.module(counters)))
    modules.expect_together(gpu, module)
    modules.expect_samples(gpu, module)
    edges = sum(len(graph["edges"]) for graph in gpu.run(module).values())
    print(f"kernels: {edges} edges in {2 * len(WAYS) + 2} ways are what a count by hand says; samples and cooperative launches as they should be")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks, folder = Msleaks(build), "".join(sys.argv[3:])
    if folder == "prepare":
        prepare(msleaks, scratch)
    else:
        check_kernels(PreparedGpu(msleaks, scratch, folder) if folder else Gpu(msleaks, scratch, "cuda", driver=path_of_driver()))


if __name__ == "__main__":
    main()
