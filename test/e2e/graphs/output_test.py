#!/usr/bin/env python3
"""Tests the compiler option and the outputs of counted graphs: the table, the Graphviz picture and the LNT profile. Also tests that
damaged files of a run are refused.

    output_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil
import struct
from pathlib import Path

from graphs_run import PROGRAMS, Msleaks, arguments, check, counted, equal, expect_flow, graphs_of, need, run

SOURCE = PROGRAMS / "shapes.c"
# {function: number of its calls}. main calls outer once, for 16 rounds. In 6 rounds i & 7 is 1, 2 or 5, and outer calls inner.
CALLS = {"inner": 6, "main": 1, "never": 0, "outer": 1}


def built(msleaks, scratch, language, *options):
    """Builds the program by msleaks-clang or msleaks-clang++ with these options of msleaks. Returns the program's path."""
    wrapper, suffix = {"c": ("msleaks-clang", "c"), "c++": ("msleaks-clang++", "cpp")}[language]
    source, program = Path(f"{scratch}/shapes.{suffix}"), f"{scratch}/shapes-{suffix}"
    shutil.copy(SOURCE, source)
    done = run([msleaks.bin / wrapper, *options, "-O2", "-g", source, "-o", program], env=dict(os.environ, MSLEAKS_LLVM=msleaks.llvm))
    check(done.returncode == 0, done.stderr)
    return program


def expect_chosen(msleaks, scratch, language):
    """Tests the option --msl-cfg. Without a value, each function is counted. With a regular expression, the functions with matching
    names are counted. Without the option, no function is counted."""
    folder = f"{scratch}/run-{language}"
    counted(msleaks, folder, [built(msleaks, scratch, language, "--msl-cfg")], 0)
    graphs = {graph["function"].split("(")[0]: graph for graph in graphs_of(msleaks, folder).values()}
    equal(f"{language}: calls", {name: graph["calls"] for name, graph in graphs.items()}, CALLS)
    for name, graph in graphs.items():
        expect_flow(graph, language)
        parameters = "" if language == "c" or name == "main" else "(int)"
        equal(f"{language}: the name", graph["function"], name + parameters)
    some = counted(msleaks, f"{scratch}/some", [built(msleaks, scratch, language, "--msl-cfg=^(outer|never)")], 0)
    equal(f"{language}: of the expression", sorted(graph["function"].split("(")[0] for graph in some.values()), ["never", "outer"])
    shutil.rmtree(f"{scratch}/none", ignore_errors=True)
    run([msleaks.bin / "msleaks-run", "--no-report", "-o", f"{scratch}/none", "--", built(msleaks, scratch, language)])
    done = run([msleaks.bin / "msleaks", "cfg", f"{scratch}/none"])
    equal(f"{language}: without the option", (done.returncode, done.stdout, done.stderr.count("\n")), (3, "", 1))
    check("no edges were counted" in done.stderr, done.stderr)
    return folder, graphs


def instructions_run(graph):
    return sum(block["count"] * block["instructions"] for block in graph["blocks"])


def expect_table(msleaks, folder, graphs):
    """Checks the table of the functions that ran. The function that executed most instructions comes first."""
    head, *rows, ran, size = msleaks.output("cfg", folder).splitlines()
    equal("the head", head.split(), ["instructions", "calls", "blocks", "edges", "most", "of", "them", "at", "function"])
    hottest = {name: max(graph["blocks"], key=lambda block: block["count"] * block["instructions"]) for name, graph in graphs.items()}
    wanted = sorted(((instructions_run(graph), graph["calls"], len(graph["blocks"]), len(graph["edges"]), f"shapes.c:{hottest[name]['line']}", graph["function"])
                     for name, graph in graphs.items() if graph["calls"]), reverse=True)
    found = [(*map(int, row.split()[:4]), *row.split(maxsplit=5)[4:]) for row in rows]
    equal("rows", found, wanted)
    equal("how many", ran, f"{len(graphs)} functions counted, {len(wanted)} ran")
    blocks, edges = (sum(len(graph[part]) for graph in graphs.values()) for part in ("blocks", "edges"))
    nodes = sum(block["instructions"] for graph in graphs.values() for block in graph["blocks"])
    counters = sum(graph["counters"] for graph in graphs.values())
    check(0 < counters < edges, f"{counters} counters of {edges} edges")
    equal("the size", size, f"{blocks} blocks, {edges} edges, {counters} counters; a graph of instructions has {nodes} nodes, {nodes / blocks:.1f} times as many")


def expect_picture(msleaks, scratch, folder, graphs):
    """Checks that the file for Graphviz has each block and each edge with its count."""
    picture = Path(f"{scratch}/graphs.dot")
    picture.write_text(msleaks.output("cfg", folder, "--dot"))
    done = run([need("dot"), "-Tjson", picture])
    equal("dot", (done.returncode, done.stderr), (0, ""))
    decoder, at, drawn = json.JSONDecoder(), 0, {}
    while done.stdout[at:].strip():
        graph, length = decoder.raw_decode(done.stdout[at:].lstrip())
        at = len(done.stdout) - len(done.stdout[at:].lstrip()) + length
        drawn[graph["name"]] = graph
    equal("graphs", sorted(drawn), sorted(graph["symbol"] for graph in graphs.values()))
    for graph in graphs.values():
        picture = drawn[graph["symbol"]]
        equal("its title", picture["label"], f"{graph['function']}, {graph['calls']} calls")
        blocks = sorted(node["label"] for node in picture["objects"])
        places = [f"\\nshapes.c:{block['line']}" if block["line"] else "\\n" for block in graph["blocks"]]
        equal("blocks", blocks, sorted(f"block {block['id']}{place}\\n{block['count']}" for block, place in zip(graph["blocks"], places)))
        names = {node["_gvid"]: int(node["name"][1:]) for node in picture["objects"]}
        edges = sorted((names[edge["tail"]], names[edge["head"]], int(edge["label"].split()[0])) for edge in picture.get("edges", []))
        equal("edges", edges, sorted((edge["from"], edge["to"], edge["count"]) for edge in graph["edges"]))


def expect_profile(msleaks, scratch, folder, graphs):
    """Checks the exported LNT profile. Its totals equal those of the graphs. The profile has a line for each edge, with the edge's
    share of the function's edge counts."""
    file = f"{scratch}/graphs.lntprof"
    equal("export says", msleaks.output("profile", "export", folder, "--lnt", file), "")
    ran = {graph["function"]: graph for graph in graphs.values() if graph["calls"]}
    counters = json.loads(msleaks.output("profile", "counters", file))
    edges = sum(edge["count"] for graph in ran.values() for edge in graph["edges"])
    equal("counters", counters, {"instructions": sum(map(instructions_run, ran.values())), "edge-count": edges,
                                 "block-visits": sum(block["count"] for graph in ran.values() for block in graph["blocks"])})
    code = json.loads(msleaks.output("profile", "code", file))
    equal("functions", sorted(code), sorted(ran))
    for name, graph in ran.items():
        total = sum(edge["count"] for edge in graph["edges"])
        lines = {text.split("# ")[1]: shares["edge-count"] for shares, _, text in code[name] if "# edge" in text}
        equal(f"{name}: counts of edges", {edge: round(share * total / 100) for edge, share in lines.items()},
              {edge["name"]: edge["count"] for edge in graph["edges"]})


def damaged(content):
    """Yields damaged files of counts: (name, bytes, reason for the refusal). A file of counts has a header and slabs. A slab
    contains the table and the counters of one module."""
    table = content.index(b"MSG1")
    record = table - 24 # the slab's header: magic, kind, unit, reserved, bytes of the body
    size, = struct.unpack_from("<Q", content, record + 16)
    counters = table + size
    kind, = struct.unpack_from("<I", content, counters + 4)
    equal("behind a table stand counters", kind, 2)

    def changed(at, *words):
        return content[:at] + b"".join(words) + content[at + sum(map(len, words)):]

    yield "its first bytes", changed(0, b"\0" * 8), "magic number"
    yield "its version", changed(8, struct.pack("<I", 9)), "is of version 9, this msleaks reads 1"
    yield "no whole header", content[:40], "no whole header"
    yield "empty", b"", "no whole header"
    yield "a byte of a table", changed(table + 80, bytes([content[table + 80] ^ 1])), "its checksum does not match"
    yield "the version of a table", changed(table + 4, struct.pack("<H", 7)), "is of version 7"
    yield "too few counters", changed(counters + 16, struct.pack("<Q", 8)), "do not fit its graphs"
    yield "counters of nothing", changed(counters + 8, struct.pack("<I", 7)), "a module that it does not describe"


def expect_refused(msleaks, scratch, folder):
    copy = f"{scratch}/damaged"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    file, = Path(f"{copy}/graphs").iterdir()
    whole, page = file.read_bytes(), Path(f"{scratch}/page.html")
    for what, content, why in damaged(whole):
        file.write_bytes(content)
        for words in (["cfg", copy], ["cfg", copy, "--json"], ["cfg", copy, "--dot"], ["cfg", copy, "--html", page], ["cfg", folder, "--html", page, "--against", copy],
                      ["profile", "export", copy, "--lnt", page]):
            done = run([msleaks.bin / "msleaks", *words])
            said = f"{what}, {words}: {done.returncode} {done.stderr}"
            check((done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), said)
            check(why in done.stderr and file.name in done.stderr, f"{said}: '{why}' is not said of {file.name}")
            check(not page.exists(), f"{said}: a file is left")
    # A file without its end is accepted, since the program may still be writing it. This cut file has no complete graph.
    file.write_bytes(whole[:whole.index(b"MSG1") + 40])
    equal("cut off", graphs_of(msleaks, copy), {})
    file.write_bytes(whole)
    equal("whole again", graphs_of(msleaks, copy), graphs_of(msleaks, folder))


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    expect_chosen(msleaks, scratch, "c++")
    folder, graphs = expect_chosen(msleaks, scratch, "c")
    expect_table(msleaks, folder, graphs)
    expect_profile(msleaks, scratch, folder, graphs)
    expect_refused(msleaks, scratch, folder)
    expect_picture(msleaks, scratch, folder, graphs)


if __name__ == "__main__":
    main()
