#!/usr/bin/env python3
"""Compares the call paths of allocations with those of libunwind, in real programs (scripts/check-paths.sh). Each path must be equal,
call by call, or be marked as incomplete.

    workloads_test.py BUILD SCRATCH [WORKLOAD...]     without WORKLOAD, tests all workloads
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from witness import HERE, Witness, in_compiled_code, print_header  # noqa: E402
from darknet_test import generated_image  # noqa: E402
from msleaks_e2e import arguments, build_workload, need, run, skip  # noqa: E402


def built(witness, name, plugin):
    """Builds a workload with the plugin, or by clang alone. Returns its folder."""
    folder = witness.scratch / (name if plugin else f"{name}-plain")
    build_workload(name, folder, witness.msleaks.plugin if plugin else None)
    return folder


def both_ways(witness, name, sample):
    for plugin in (True, False):
        samples = sample(built(witness, name, plugin))
        witness.expect(f"{name}, {'instrumented' if plugin else 'hooked only'}", samples)


def darknet(witness):
    scratch = witness.scratch
    generated_image(scratch / "image.ppm")
    (scratch / "names").write_text("".join(f"class {i}\n" for i in range(1000)))
    (scratch / "classes.data").write_text(f"classes=1000\nnames={scratch}/names\ntop=5\n")
    commands = [["classifier", "predict", scratch / "classes.data", "cfg/darknet.cfg", "", scratch / "image.ppm"],
                ["classifier", "predict", scratch / "classes.data", "cfg/resnet18.cfg", "", scratch / "image.ppm"],
                ["ops", "cfg/densenet201.cfg"]]
    both_ways(witness, "darknet", lambda folder: [witness.sample(["./darknet", *command], 1, cwd=folder) for command in commands])


def ggml(witness):
    # The arguments are the numbers of steps and of threads. A step takes longer with two threads, since a waiting thread spins.
    runs = [("20", "2"), ("480", "1")]
    both_ways(witness, "ggml", lambda folder: [witness.sample([folder / "transformer", *steps], 1) for steps in runs])


def python(witness):
    command = ["/usr/bin/python3", HERE / "programs/arrays.py"]
    if run([command[0], "-c", "import numpy"]).returncode != 0:
        skip("no numpy; python3-numpy brings it")
    witness.expect("Python with numpy", [witness.sample(command, 3)])
    # With PYTHONMALLOC=malloc, Python allocates each object by malloc.
    witness.expect("Python with numpy, all its blocks", [witness.sample(command, 60, {"PYTHONMALLOC": "malloc"})])


def luajit(witness):
    command, script = need("luajit"), HERE / "programs/compiled.lua"
    witness.expect("LuaJIT", [witness.sample([command, script], 2)], in_compiled_code)
    witness.expect("LuaJIT, its interpreter", [witness.sample([command, "-joff", script], 2)])


WORKLOADS = {function.__name__: function for function in (darknet, ggml, python, luajit)}


def main():
    build, scratch = arguments("build", "scratch")
    witness = Witness(build, scratch)
    print_header()
    for name in sys.argv[3:] or WORKLOADS:
        WORKLOADS[name](witness)


if __name__ == "__main__":
    main()
