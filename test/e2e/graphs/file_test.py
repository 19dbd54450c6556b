#!/usr/bin/env python3
"""Compares the output of `msleaks cfg --json` with numbers known in advance. Checks the instructions and bytes of blocks, edges
without a count, the hash of a graph, and the JSON schema.

    file_test.py BUILD SCRATCH LLVM
"""
import copy
import os
from pathlib import Path

from graphs_run import PROGRAMS, Msleaks, arguments, check, counted, counting, equal, line_of, schema

FACTS = PROGRAMS / "facts.ll"
CLASSES = ("integer", "float", "load", "store", "call", "branch", "other")
# For each basic block: the number of loops around it, instructions by class, bytes loaded, bytes stored, and how often the block ran.
BLOCKS = [(0, (0, 0, 0, 0, 0, 1, 0), 0, 0, 5),
          (1, (0, 1, 0, 0, 0, 1, 0), 0, 0, 11),
          (2, (3, 1, 1, 1, 0, 1, 0), 8, 8, 44),
          (1, (2, 0, 4, 4, 1, 1, 0), 24 + 4 + 4 + 16, 24 + 15 + 4 + 4, 11),
          (0, (0, 0, 0, 0, 0, 1, 0), 0, 0, 5),
          (0, (0, 0, 0, 0, 0, 1, 1), 0, 0, 1),
          (0, (0, 0, 0, 0, 0, 1, 0), 0, 0, 5)]
EDGES = [("edge1_2", "branch", None, 5), ("edge2_3", "branch", None, 11), ("edge3_3", "branch", None, 33), ("edge3_4", "branch", None, 11),
         ("edge4_2", "branch", None, 6), ("edge4_5", "branch", None, 5), ("edge5_7", "default", None, 1), ("edge5_7.2", "switch", 1, 2),
         ("edge5_7.3", "switch", -2, 1), ("edge5_6", "switch", 3, 1), ("edge6_7", "branch", None, 1)]
# {function: the hash of its graph}. The hash is the same for every LLVM version, since it is computed from names of opcodes and of
# edge kinds.
HASHES = {"facts": "88d603d5b0afc02b", "jumps": "bde4286effe75802"}


def expect_facts(graph, what):
    found = [(block["depth"], tuple(block["classes"][name] for name in CLASSES), block["loaded_bytes"], block["stored_bytes"], block["count"])
             for block in graph["blocks"]]
    equal(f"{what}: blocks", found, BLOCKS)
    equal(f"{what}: instructions", [block["instructions"] for block in graph["blocks"]], [sum(classes) for _, classes, *_ in BLOCKS])
    equal(f"{what}: edges", [(edge["name"], edge["kind"], edge.get("value"), edge["count"]) for edge in graph["edges"]], EDGES)
    equal(f"{what}: calls", graph["calls"], 5)
    equal(f"{what}: no debug information", {(block["file"], block["line"]) for block in graph["blocks"]}, {("", 0)})


def expect_unknown(graph, what):
    """Checks the computed gotos. Two basic blocks have two incoming edges each. msleaks knows how often the blocks ran, but not how often
    each edge was taken. So the edges must have no count, rather than the count 0."""
    equal(f"{what}: blocks", [block["count"] for block in graph["blocks"]], [3, *by_end(graph)])
    ways = [edge for edge in graph["edges"] if edge["kind"] == "indirect"]
    equal(f"{what}: ways", {(edge["state"], edge["count"], edge["error"]) for edge in ways}, {("uninstrumentable", None, None)})
    equal(f"{what}: number of them", len(ways), 4)
    check(all(edge["state"] in ("measured", "derived") for edge in graph["edges"] if edge not in ways), f"{what}: {graph['edges']}")


def by_end(graph):
    """Returns the expected counts of all blocks but the first, in the order of their numbers. The first goto
    ran 2 times, the second goto 1 time. The block `left` ran 1 time, the block `right` 2 times."""
    ends = [edge["to"] for edge in graph["edges"] if edge["kind"] == "indirect"][:2]
    gotos = [edge["to"] for edge in graph["edges"] if edge["from"] == 1]
    counts = {gotos[0]: 2, gotos[1]: 1, ends[0]: 1, ends[1]: 2}
    return [counts[number] for number in sorted(counts)]


SOURCE = """int {name}(int n) {{
  int {sum} = 0;
  for (int i = 0; i < n; ++i)
    if (i % {divisor} == 0)
      {sum} {change} i * n;
  return {sum};
}}
int main(void) {{ return {name}(9) == 7; }}
"""


def hash_of(msleaks, scratch, number, cfg="cfg", **words):
    """Compiles a function from a new source file, runs it, and returns the hash of its graph."""
    words = {"name": "work", "sum": "sum", "divisor": 3, "change": "+=", **words}
    source = Path(f"{scratch}/build-{number}/source.c")
    source.parent.mkdir(exist_ok=True)
    source.write_text("\n" * number + SOURCE.format(**words))
    graphs = counted(msleaks, f"{scratch}/run", [counting(msleaks, source, source.parent / "program", cfg=cfg)])
    graph = graphs[words["name"]]
    equal("where it begins", (graph["file"], graph["line"]), (str(source), line_of(source, words["name"])))
    return graph["hash"]


def expect_hashes(msleaks, scratch):
    first = hash_of(msleaks, scratch, 0)
    equal("the same once more", hash_of(msleaks, scratch, 1), first)
    equal("another name, other variables, lines and constants", hash_of(msleaks, scratch, 2, name="other", sum="all", divisor=5), first)
    equal("counters on each edge", hash_of(msleaks, scratch, 3, cfg="cfg;counters=all"), first)
    for number, words in enumerate([{"change": "^="}, {"change": "-="}, {"change": "+= i +"}, {"divisor": "3 == 0 && i % 5"}], 4):
        check(hash_of(msleaks, scratch, number, **words) != first, f"{words}: the hash is the same")


def expect_strict(graphs):
    """Checks that the schema rejects damaged graphs."""
    def refused(change):
        damaged = copy.deepcopy(graphs)
        change(next(graph for graph in damaged if graph["function"] == "facts"))
        return schema.mistakes(damaged)

    def put(of, key, value):
        return lambda graph: (graph if of is None else graph[of][0]).__setitem__(key, value)

    check(not refused(lambda graph: None), "nothing is wrong")
    for change in (put(None, "hash", "0x12"), put(None, "more", 1), put(None, "calls", -1), put(None, "mode", "some"), put("blocks", "count", "5"),
                   put("blocks", "id", 0), put("blocks", "more", 1), put("edges", "count", None), put("edges", "kind", "switch"),
                   put("edges", "state", "unseen"), put("edges", "name", "edge1"), put("edges", "more", 1),
                   lambda graph: graph["blocks"][0].pop("depth"), lambda graph: graph["blocks"][0]["classes"].pop("float"),
                   lambda graph: graph.pop("launches"), lambda graph: graph["edges"][0].pop("error")):
        check(refused(change), "the schema takes what is wrong")


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    for cfg in "cfg", "cfg;counters=all", "cfg;counters=calls", "cfg;ir":
        graphs = counted(msleaks, f"{scratch}/run", [counting(msleaks, FACTS, f"{scratch}/facts", "-Wno-everything", cfg=cfg, flags=["-O0"])], 0)
        equal(f"{cfg}: functions", sorted(graphs), ["facts", "jumps"])
        expect_facts(graphs["facts"], cfg)
        expect_unknown(graphs["jumps"], cfg)
        equal(f"{cfg}: hashes", {name: graph["hash"] for name, graph in graphs.items()}, HASHES)
        has_text = all(("ir" in block) == cfg.endswith("ir") for graph in graphs.values() for block in graph["blocks"])
        check(has_text, f"{cfg}: instructions as text")
    expect_hashes(msleaks, scratch)
    if schema.jsonschema is not None:
        expect_strict(list(graphs.values()))


if __name__ == "__main__":
    main()
