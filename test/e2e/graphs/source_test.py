#!/usr/bin/env python3
"""Tests OpenCL programs that pass source text of kernels to the driver PoCL. `msleaks-run --cfg` compiles the text itself and counts
the kernels. The program sees the same results, build log and build options as without msleaks. The program sees no additional child
process and no signal. If msleaks cannot compile the text, the original kernel runs, and a note gives the reason.

    source_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil

from opencl_test import HERE, LAUNCHES, Run, check, compile_host, expect_arguments, expect_hand_count, run, run_alone, start

OPTIONS = '-cl-std=CL1.2 -D UNUSED="a b"'


def notes_of(msleaks, folder):
    return " ".join(json.loads(msleaks.output("report", folder, "--json"))["notes"])


def expect_counted(msleaks, scratch, host, source):
    alone = run_alone([host, source, OPTIONS, str(LAUNCHES)])
    done = Run(msleaks, scratch, host, source, alone.stdout, "--cfg", build_options=OPTIONS)
    expect_hand_count(done)
    expect_arguments(msleaks, done)
    check(all(graph["file"].startswith("program-") for graph in done.graphs.values()), [graph["file"] for graph in done.graphs.values()])
    without = Run(msleaks, scratch, host, source, alone.stdout, build_options=OPTIONS)
    check(without.status == 3 and not without.graphs, f"without --cfg: {without.graphs}")


def expect_plain(msleaks, scratch, host, source):
    """Runs without msleaks' compiler. The program must behave as without msleaks, and a note must name the missing compiler."""
    alone = run_alone([host, source, OPTIONS, str(LAUNCHES)])
    os.environ["MSLEAKS_CLANG"] = f"{scratch}/missing-clang"
    done = Run(msleaks, scratch, host, source, alone.stdout, "--cfg", build_options=OPTIONS)
    del os.environ["MSLEAKS_CLANG"]
    check(not done.graphs, f"counted without a compiler: {done.graphs}")
    notes = notes_of(msleaks, done.folder)
    check("given as source" in notes and "missing-clang" in notes, f"notes: {notes}")


def expect_undisturbed(msleaks, scratch, program):
    """Tests a failed build and its log, queries about the program, children and signals."""
    alone = run([program])  # stderr may have text, since PoCL reports the failed build on stderr
    check(alone.returncode == 0, f"alone: {alone.returncode} {alone.stderr}")
    folder = f"{scratch}/undisturbed"
    shutil.rmtree(folder, ignore_errors=True)
    done = run([msleaks.bin / "msleaks-run", "--cfg", "-o", folder, "--", program])
    check((done.returncode, done.stdout) == (0, alone.stdout), f"{done.returncode} {done.stdout!r} {done.stderr!r}, alone {alone.stdout!r}")
    graphs = json.loads(msleaks.output("cfg", folder, "--json"))
    counted = sorted((graph["function"], graph["calls"]) for graph in graphs if graph["calls"])
    check(counted == [("again", 64), ("twice", 32), ("twice", 64)], f"counted {counted}")


def main():
    msleaks, scratch = start()
    source = HERE / "kernels.cl"
    host = compile_host(HERE / "kernels_host.cpp", f"{scratch}/host")
    expect_counted(msleaks, scratch, host, source)
    expect_plain(msleaks, scratch, host, source)
    expect_undisturbed(msleaks, scratch, compile_host(HERE / "programs/from_source.cpp", f"{scratch}/from_source"))


if __name__ == "__main__":
    main()
