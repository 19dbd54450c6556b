#!/usr/bin/env python3
"""Compares counts of basic blocks and edges with those of LLVM's own instrumentation (-fprofile-generate) of the same IR. The counts
must be equal.

    pgo_test.py BUILD SCRATCH LLVM
"""
import os
import re
import shutil
from pathlib import Path

from graphs_run import PROGRAMS, REPOSITORY, Msleaks, arguments, check, counted, equal, need, run

# {source: functions in which the counts differ}. LLVM's profile assumes that each call returns, even if the callee throws, exits
# or calls longjmp. For a computed goto LLVM adds blocks.
OTHERWISE = {"numbers": set(), "odd": {"_Z9passes_oni", "_Z6jumpedi", "_Z5leavei", "main", "_Z5gotosPKc"}}
SOURCES = {"numbers": PROGRAMS / "numbers.cpp", "odd": REPOSITORY / "test/lit/graphs/odd-flow.cpp"}
# Both instrumentations add counters after inlining and simplification. The options keep later passes from changing the loops.
FLAGS = ("-O2", "-g", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-discard-value-names")


class Tools:
    """Runs the programs of one LLVM version in a folder."""

    def __init__(self, llvm, folder):
        self.llvm, self.folder = llvm, folder

    def __call__(self, tool, *words, **kwargs):
        done = run([need(f"{tool}-{self.llvm}"), *words], cwd=self.folder, **kwargs)
        check(done.returncode == 0, f"{tool} {words}: {done.stderr}")
        return done.stderr


def counts_of_llvm(tools):
    """Returns LLVM's counts for named.ll, as {function: {block: count}}. To split a critical edge, LLVM inserts a block
    FROM.TO_crit_edge."""
    tools("opt", "-passes=pgo-instr-gen,instrprof", "named.ll", "-o", "theirs.bc")
    tools("clang++", "-c", "theirs.bc", "-o", "theirs.o")
    tools("clang++", "-fprofile-generate", "theirs.o", "-o", "theirs", "-pthread")
    run([tools.folder / "theirs"], env=dict(os.environ, LLVM_PROFILE_FILE=str(tools.folder / "theirs.profraw")))
    tools("llvm-profdata", "merge", "theirs.profraw", "-o", "theirs.profdata")
    said = tools("opt", "-passes=pgo-instr-use", "-pgo-test-profile-file=theirs.profdata", "-pgo-view-raw-counts=text", "named.ll", "-o", os.devnull)
    functions = {}
    for line in said.splitlines():
        if found := re.fullmatch(r"pgo-view-raw-counts: (\S+)", line):
            blocks = functions[found[1]] = {}
        elif found := re.fullmatch(r"  BB: (\S+)  Index=\d+  Count=(\d+)", line):
            check(found[1] not in blocks, f"two blocks are called {found[1]}")
            blocks[found[1]] = int(found[2])
    return functions


def our_counts(msleaks, tools):
    tools("opt", f"-load-pass-plugin={msleaks.plugin}", "-passes=msl-count<cfg;ir>,verify", "named.ll", "-o", "ours.bc")
    tools("clang++", "-c", "ours.bc", "-o", "ours.o")
    tools("clang++", "ours.o", "-o", "ours", "-pthread")
    return counted(msleaks, tools.folder / "run", [tools.folder / "ours"])


def compare(graph, theirs):
    """Compares a graph with LLVM's counts, and returns the number of equal counts. A block FROM.TO_crit_edge can lie on several edges of
    a switch, so its count is compared with the sum of the counts of these edges."""
    symbol, names = graph["symbol"], {}
    for block in graph["blocks"]:
        names[block["id"]] = block["ir"].split(":\n")[0].removeprefix("%").strip('"')
    ours = {names[block["id"]]: block["count"] for block in graph["blocks"]}
    equal(f"{symbol}: blocks", ours, {name: count for name, count in theirs.items() if name in ours})
    edges, ways = {}, {}
    for edge in graph["edges"]:
        way = names[edge["from"]], names[edge["to"]]
        edges[way] = edges.get(way, 0) + edge["count"]
    for name, count in theirs.items():
        for way in edges:
            if name not in ours and re.fullmatch(rf"{re.escape('.'.join(way))}_crit_edge\d*", name):
                ways[way] = ways.get(way, 0) + count
    equal(f"{symbol}: edges", {way: edges[way] for way in ways}, ways)
    return len(ours), len(ways)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    msleaks = Msleaks(build, llvm)
    for name, source in SOURCES.items():
        folder = Path(scratch) / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        tools = Tools(llvm, folder)
        tools("clang++", *FLAGS, "-S", "-emit-llvm", source, "-o", "plain.ll")
        tools("opt", "-passes=instnamer", "plain.ll", "-S", "-o", "named.ll")
        theirs, graphs = counts_of_llvm(tools), our_counts(msleaks, tools)
        both = sorted((graphs.keys() & theirs.keys()) - OTHERWISE[name])
        check(len(both) >= 5, f"{name}: LLVM counted {sorted(theirs)}, we {sorted(graphs)}")
        blocks, edges = map(sum, zip(*(compare(graphs[symbol], theirs[symbol]) for symbol in both)))
        check(blocks > 20 and (edges > 20) == (name == "numbers"), f"{name}: {blocks} blocks and {edges} edges were compared")
        print(f"{name}: {blocks} blocks and {edges} critical edges of {len(both)} functions, as LLVM counts them")


if __name__ == "__main__":
    main()
