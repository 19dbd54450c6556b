#!/usr/bin/env python3
"""Compares counts of functions on the host with expected numbers. The programs start threads, fork, close and open a library again,
or are killed. In one case msleaks cannot create the files of counts.
   usage: host_test.py BUILD SCRATCH LLVM
"""
import os
import re
import signal

from graphs_run import PROGRAMS, Msleaks, arguments, check, counted, counting, equal, expect_flow, graphs_of, need, run

LOOP = 10


def expect_work(graph, calls, what, loop=LOOP):
    equal(f"{what}: calls", graph["calls"], calls)
    expect_flow(graph, what)
    counts = sorted(block["count"] for block in graph["blocks"])
    check(calls * loop in counts, f"{what}: no block ran {calls * loop} times: {counts}")
    check(calls * loop // 2 in counts, f"{what}: no block ran {calls * loop // 2} times: {counts}")


def expect_other_version(msleaks, scratch, llvm):
    """The module's table of graphs has a version that msleaks does not support. The program must still run, and a note must say why
    the module is not counted."""
    code, program, folder = f"{scratch}/other.ll", f"{scratch}/other", f"{scratch}/run-other"
    run(["rm", "-rf", folder])
    counting(msleaks, PROGRAMS / "counted.cpp", code, "-S", "-emit-llvm")
    with open(code) as file:
        text = file.read()
    changed = re.sub(r"(\{ i16 )1(, i16 16, i32 \d+, ptr )", r"\g<1>9\2", text)
    check(changed != text, "the module's description is not where it was")
    with open(code, "w") as file:
        file.write(changed)
    done = run([need(f"clang++-{llvm}"), code, "-o", program, "-pthread", "-ldl"])
    check(done.returncode == 0, done.stderr)
    done = run([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", program, "threads"])
    equal("a module of another version", (done.returncode, done.stdout), (0, "done\n"))
    notes = msleaks.report(folder).json["notes"]
    equal("notes of it", sum("graphs is of version 9" in note for note in notes), 1)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    program = counting(msleaks, PROGRAMS / "counted.cpp", f"{scratch}/counted", "-pthread", "-ldl")
    library = counting(msleaks, PROGRAMS / "elsewhere.c", f"{scratch}/libelsewhere.so", "-fPIC", "-shared")

    graphs = counted(msleaks, f"{scratch}/threads", [program, "threads"], 0)
    expect_work(graphs["work"], 4 * 64 * 100, "threads")
    size = sum(os.path.getsize(f"{scratch}/threads/graphs/{name}") for name in os.listdir(f"{scratch}/threads/graphs"))
    check(size < 2 << 20, f"the counts of 256 threads, 64 at a time, take {size} bytes")

    graphs = counted(msleaks, f"{scratch}/children", [program, "children"], 0)
    expect_work(graphs["work"], 9, "children")
    equal("files of counts", len(os.listdir(f"{scratch}/children/graphs")), 3)

    graphs = counted(msleaks, f"{scratch}/library", [program, "library", library], 0)
    equal("calls of a library that was closed", graphs["work_elsewhere"]["calls"], 5)
    equal("calls behind it", graphs["work"]["calls"], 5)

    graphs = counted(msleaks, f"{scratch}/killed", [program, "killed"], -signal.SIGKILL)
    expect_work(graphs["work"], 7, "killed")

    graphs = counted(msleaks, f"{scratch}/many", [program, "many", "2000000000"], 0)
    expect_work(graphs["work"], 1, "more than a billion", 2_000_000_000)

    # A file exists where msleaks needs the folder `graphs`. The program must run as usual, and a note must mention the failure.
    folder = f"{scratch}/refused"
    run(["rm", "-rf", folder])
    done = run([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", "sh", "-c", f"touch {folder}/graphs; exec {program} threads"])
    equal("a folder that cannot be made", (done.returncode, done.stdout), (0, "done\n"))
    notes = msleaks.report(folder).json["notes"]
    check(any("edges are not counted" in note for note in notes), f"no note says that there was no room: {notes}")

    expect_other_version(msleaks, scratch, llvm)
    done = run([msleaks.bin / "msleaks", "cfg", folder])
    check(done.returncode == 3 and "no edges were counted" in done.stderr, f"{done.returncode}: {done.stderr}")
    plain = run([program, "children"])
    equal("without msleaks-run", (plain.returncode, plain.stdout), (0, "done\n"))


if __name__ == "__main__":
    main()
