#!/usr/bin/env python3
"""Compares the counts of a build with few counters with those of two other builds and of LLVM's own profile. The other builds have a
counter on each edge, or a call on each edge. The programs have exceptions, setjmp, computed gotos, switches, recursion, and an exit
in the middle.
   usage: truth_test.py BUILD SCRATCH LLVM
"""
import os
import re

from graphs_run import PROGRAMS, REPOSITORY, Msleaks, arguments, check, counted, counting, equal, expect_flow, need, run

LEVELS = ["-O0", "-O1", "-O2", "-O3"]


def profile_of(scratch, llvm, source):
    """Returns the number of calls of each function, as clang's instrumentation (-fprofile-instr-generate) counts them."""
    program, raw, merged = f"{scratch}/profiled", f"{scratch}/default.profraw", f"{scratch}/default.profdata"
    done = run([need(f"clang++-{llvm}"), "-O0", "-g", "-fprofile-instr-generate", source, "-o", program, "-pthread"])
    check(done.returncode == 0, done.stderr)
    run([program], env=dict(os.environ, LLVM_PROFILE_FILE=raw))
    tool = need(f"llvm-profdata-{llvm}")
    equal("llvm-profdata merge", run([tool, "merge", raw, "-o", merged]).returncode, 0)
    shown = run([tool, "show", "--all-functions", "--counts", merged]).stdout
    return {name.split(":")[-1].split(";")[-1]: int(calls) for name, calls in re.findall(r"^  (\S+):\n.*?Function count: (\d+)", shown, re.M | re.S)}


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    for name, source in {"odd": REPOSITORY / "test/lit/graphs/odd-flow.cpp", "numbers": PROGRAMS / "numbers.cpp"}.items():
        edges = 0
        for level in LEVELS:
            graphs = {}
            for counters in "few", "all", "calls":
                program = counting(msleaks, source, f"{scratch}/{name}-{counters}", "-pthread", cfg=f"cfg;counters={counters}", flags=[level])
                graphs[counters] = counted(msleaks, f"{scratch}/run", [program])
                for graph in graphs[counters].values():
                    expect_flow(graph, f"{name} {level} {counters}")
            for other in "all", "calls":
                equal(f"{name} {level}: functions", sorted(graphs["few"]), sorted(graphs[other]))
                for symbol, few in graphs["few"].items():
                    every = graphs[other][symbol]
                    equal(f"{name} {level}: calls of {symbol}", few["calls"], every["calls"])
                    equal(f"{name} {level}, {other}: edges of {symbol}", [(edge["name"], edge["count"]) for edge in few["edges"]],
                          [(edge["name"], edge["count"]) for edge in every["edges"]])
            edges += sum(len(graph["edges"]) for graph in graphs["few"].values())
            derived = sum(edge["state"] == "derived" for graph in graphs["few"].values() for edge in graph["edges"])
            check(derived > 0, f"{name} {level}: every edge has a counter")
            if level == "-O0":
                ours = {symbol: graph["calls"] for symbol, graph in graphs["few"].items()}
                theirs = profile_of(scratch, llvm, source)
                both = {symbol: (ours[symbol], theirs[symbol]) for symbol in ours if symbol in theirs}
                check(len(both) > 5, f"LLVM's profile has other functions: {sorted(theirs)[:20]}, not {sorted(ours)[:20]}")
                equal(f"{name}: calls as LLVM counts them", {symbol: pair for symbol, pair in both.items() if pair[0] != pair[1]}, {})
                print(f"{name}: calls of {len(both)} functions as LLVM counts them")
        print(f"{name}: {edges} edges at {len(LEVELS)} levels, each as a counter of its own says")


if __name__ == "__main__":
    main()
