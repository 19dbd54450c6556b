#!/usr/bin/env python3
"""Checks the counts of code that OpenMP's threads run, and of functions whose calls must be tail calls.
   usage: flows_test.py BUILD SCRATCH LLVM
"""
import os

from graphs_run import PROGRAMS, Msleaks, arguments, check, counted, counting, equal, expect_flow, line_of, skip

SOURCE = PROGRAMS / "parallel.cpp"
# The folder of OpenMP's runtime library. The library of the newest LLVM also works for programs that an older LLVM compiled.
LIBRARY = "/usr/lib/llvm-22/lib"
SIZE, ROUNDS, THREADS, DEPTH = 1000, 5, 4, 3_000_001
# TREBLED: of the numbers 0 to 999, 334 are multiples of 3, and the program multiplies these by 3. ODD: 500 of the numbers are odd.
# They stay odd when they are multiplied by 3.
TREBLED, ODD = 334, 500


def count_at(graph, text):
    """Returns the count of the block that begins in the line with this text."""
    line = line_of(SOURCE, text)
    counts = [block["count"] for block in graph["blocks"] if block["line"] == line]
    check(counts, f"{graph['function']}: no block begins in line {line}: {[block['line'] for block in graph['blocks']]}")
    return max(counts)


def expect_threads(graphs, what):
    treble, odd = (next(graph for name, graph in graphs.items() if f"{function}(" in name and ".omp_outlined" in name)
                   for function in ("treble", "sumOfOdd"))
    equal(f"{what}: threads in a loop", (treble["calls"], odd["calls"]), (THREADS * ROUNDS, THREADS))
    equal(f"{what}: rounds that trebled", count_at(treble, "// trebled"), TREBLED * ROUNDS)
    check(SIZE * ROUNDS in [block["count"] for block in treble["blocks"]], f"{what}: all rounds: {treble['blocks']}")
    check(SIZE in [block["count"] for block in odd["blocks"]], f"{what}: rounds by turns: {odd['blocks']}")
    return treble, odd


def expect_tail_calls(graphs, what):
    """isEven and isOdd call each other and count down from an odd number to 0. So each function gets half of the calls."""
    even, odd = graphs["isEven(unsigned int)"], graphs["isOdd(unsigned int)"]
    equal(f"{what}: tail calls", (even["calls"], odd["calls"]), (DEPTH // 2 + 1, DEPTH // 2 + 1))
    for graph, ended in (even, 0), (odd, 1):
        equal(f"{what}: {graph['function']}", sorted(edge["count"] for edge in graph["edges"]), [ended, graph["calls"] - ended])


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    if not os.path.exists(f"{LIBRARY}/libomp.so"):
        skip("no libomp, which libomp-22-dev brings")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    for level in "-O1", "-O2":
        for cfg in "cfg", "cfg;counters=all", "cfg=^(treble|sumOfOdd|is)":
            program = counting(msleaks, SOURCE, f"{scratch}/parallel", "-fopenmp", f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", cfg=cfg, flags=[level])
            what = f"{level} {cfg}"
            graphs = {graph["function"]: graph for graph in counted(msleaks, f"{scratch}/run", [program], 0).values()}
            for graph in graphs.values():
                expect_flow(graph, what)
            expect_threads(graphs, what)
            expect_tail_calls(graphs, what)


if __name__ == "__main__":
    main()
