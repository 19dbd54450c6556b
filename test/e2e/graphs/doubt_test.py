#!/usr/bin/env python3
"""Tests, on the driver PoCL, launches in which msleaks cannot launch the counted copy of an OpenCL kernel. The program's own kernel
must run instead, and msleaks must record the launch. The program gets the same results as without msleaks. Another test checks that a
count stays right if the lower half of its counter overflows.

    doubt_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import spirv  # noqa: E402
from msleaks_e2e import check, equal, expect_same, need, run  # noqa: E402
from opencl_test import HERE, compile_host, compile_kernels, run_alone, start, write_spirv  # noqa: E402

PROGRAMS = HERE / "programs"
THREADS = 256
# {way to launch (doubt_host.cpp): (number of the program's launches, number of counted launches)}
WAYS = {"plain": (5, 5), "exec_info": (5, 2), "unordered": (5, 2), "task": (5, 2), "queues": (20, 18),
        "fork": (5, 5)}
# msleaks makes calls to launch the counted copy, and OpenCL refuses one of them.
# {the refused call: (number of the program's launches, number of counted launches)}
REFUSED = {"argument": (5, 0), "counters": (5, 0), "launch": (5, 0)}


def host_with_refusals(scratch):
    library = f"{scratch}/librefusing_opencl.so"
    done = run([need("gcc"), "-shared", "-fPIC", PROGRAMS / "refusing_opencl.c", "-o", library, "-ldl"])
    check(done.returncode == 0, done.stderr)
    return compile_host(PROGRAMS / "doubt_host.cpp", f"{scratch}/doubt", "-Wl,--no-as-needed", library)


def graphs_of(msleaks, folder, command, refused=""):
    """Runs the command with and without msleaks, and checks that both outputs are equal. Returns {name: graph}."""
    alone = run_alone(command)
    shutil.rmtree(folder, ignore_errors=True)
    done = run([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", *command], env={**os.environ, "REFUSED": refused})
    expect_same(alone, done)
    cfg = run([msleaks.bin / "msleaks", "cfg", folder, "--json"])
    check(cfg.returncode in (0, 3), cfg.stderr)
    return {graph["function"]: graph for graph in json.loads(cfg.stdout)} if cfg.returncode == 0 else {}


def expect_launches(what, graphs, launches, counted):
    graph = graphs["collatz"]
    rows = graph["launches"]
    equal(f"{what}: launches", (sum(row["launches"] for row in rows), sum(row["counted"] for row in rows)), (launches, counted))
    equal(f"{what}: threads that counted", graph["sampled_threads"], THREADS * counted)
    threads = sum(row["threads"] for row in rows)
    others = 1 if what == "task" else THREADS  # clEnqueueTask launches one thread
    equal(f"{what}: threads", threads, THREADS * counted + others * (launches - counted))
    equal(f"{what}: calls", graph["calls"], threads if counted != 0 else None)
    # If only some launches were counted, the counts are estimates. If none was counted, there are no counts.
    states = {edge["state"] for edge in graphs["steps"]["edges"]}
    known = {"measured", "derived"} if counted == launches else {"estimated"} if counted != 0 else {"unseen"}
    equal(f"{what}: edges", states, known)


def expect_carry(msleaks, scratch):
    """Each of 256 threads adds a number of more than 32 bits to the same counters, so the lower half of a counter overflows."""
    rounds = 0x300000007
    plain, counted = f"{scratch}/carry.bc", f"{scratch}/carry.counted.bc"
    passes = "function(mem2reg,loop-rotate),msl-count<cfg>,function(loop(indvars,loop-deletion))"
    for command in ([need(msleaks.compiler("c")), "--target=spirv64", "-x", "cl", "-cl-std=CL1.2", "-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", HERE / "carry.cl", "-o", plain],
                    [need(f"opt-{msleaks.llvm}"), f"-load-pass-plugin={msleaks.plugin}", f"-passes={passes}", plain, "-o", counted]):
        done = run(command)
        check(done.returncode == 0, done.stderr)
    write_spirv(counted, f"{scratch}/carry.spv")
    check(spirv.to_bitcode(msleaks.bin, f"{scratch}/carry.spv", f"{scratch}/carry.pocl.bc"), "carry.spv cannot be translated")
    host = compile_host(PROGRAMS / "carry_host.cpp", f"{scratch}/carry")
    done = run([host, f"{scratch}/carry.pocl.bc", spirv.BUILD_OPTIONS, str(rounds)])
    equal("carry: exit status", (done.returncode, done.stderr), (0, ""))
    counts = set(map(int, done.stdout.split()))
    equal("carry: counts", counts, {0, THREADS, THREADS * (rounds - 1)})


def main():
    msleaks, scratch = start()
    bitcode = compile_kernels(msleaks, HERE / "kernels.cl", scratch, "counted")
    host = host_with_refusals(scratch)
    for way, (launches, counted) in WAYS.items():
        graphs = graphs_of(msleaks, f"{scratch}/run", [host, bitcode, spirv.BUILD_OPTIONS, way])
        expect_launches(way, graphs, launches, counted)
    for refused, (launches, counted) in REFUSED.items():
        graphs = graphs_of(msleaks, f"{scratch}/run", [host, bitcode, spirv.BUILD_OPTIONS, "plain"], refused)
        expect_launches(f"refused: {refused}", graphs, launches, counted)
    equal("refused: kernel", graphs_of(msleaks, f"{scratch}/run", [host, bitcode, spirv.BUILD_OPTIONS, "plain"], "kernel"), {})
    expect_carry(msleaks, scratch)


if __name__ == "__main__":
    main()
