#!/usr/bin/env python3
"""Counts the edges of real programs: ggml's operators, a transformer, and darknet. With few counters, each edge of each function must
have the same count as with a counter on each edge. The program may have at most half as many counters.
   usage: workloads_truth.py BUILD SCRATCH (scripts/check-graphs.sh)
"""
import os

from graphs_run import Msleaks, arguments, build_workload, check, equal, expect_flow, graphs_of, recorded

MOST_COUNTERS = 0.5 # at most this share of the number of counters in a build with a counter on each edge
# {workload: commands, run in its folder}. Each command does the same work in each run.
COMMANDS = {"ggml": (["./operators", "1"], ["./transformer", "2", "1"]), "darknet": (["./darknet", "speed", "cfg/cifar.cfg", "1"],)}


def graphs_by(msleaks, folder, run_folder, command):
    """Runs the command and returns the graphs. Does not compare the program's output, since it contains times."""
    done = recorded(msleaks, run_folder, command, cwd=folder)
    check(done.returncode == 0, f"{command}: {done.stderr}")
    seen = graphs_of(msleaks, run_folder)
    for graph in seen.values():
        expect_flow(graph, command)
    return seen


def counts_of(graph):
    return graph["calls"], [(edge["name"], edge["count"]) for edge in graph["edges"]]


def compare(command, few, every):
    equal(f"{command}: functions", sorted(few), sorted(every))
    for symbol in few:
        equal(f"{command}: {symbol}", counts_of(few[symbol]), counts_of(every[symbol]))
    edges, ran = sum(len(graph["edges"]) for graph in few.values()), sum(graph["calls"] > 0 for graph in few.values())
    counters, each = (sum(graph["counters"] for graph in graphs.values()) for graphs in (few, every))
    print(f"{' '.join(command)}: {len(few)} functions, {ran} ran; {edges} edges, each as a counter of its own says; {counters} counters, not {each}")
    check(counters <= MOST_COUNTERS * each, f"{command}: {counters} counters of {each}")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, commands in COMMANDS.items():
        folders = {counters: f"{scratch}/{name}-{counters}" for counters in ("few", "all")}
        for counters, folder in folders.items():
            build_workload(name, folder, msleaks.plugin, f"cfg;counters={counters}")
        for command in commands:
            compare(command, *(graphs_by(msleaks, folder, f"{scratch}/run", command) for folder in folders.values()))


if __name__ == "__main__":
    main()
