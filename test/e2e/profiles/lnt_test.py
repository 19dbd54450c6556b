#!/usr/bin/env python3
"""Compares profiles of msleaks with LNT's own Python code, which must read and write the same files. The profiles are those of a run,
of LLVM's counters and of a recording of perf. msleaks must also read files that LNT wrote. Exits with 77 if LNT is not available.

    lnt_test.py BUILD SCRATCH WITH-PLUGIN      WITH-PLUGIN: 0 for a build without the plugin, so no program counts its edges
"""
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, run, skip  # noqa: E402

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "unit/profiles/golden"
CHANCES = 12


class Lnt:
    def __init__(self):
        done = run([HERE / "fetch_lnt.sh"])
        if done.returncode == 77:
            skip(done.stderr.strip())
        check(done.returncode == 0, f"LNT cannot be installed: {done.stderr}")
        self.python = done.stdout.strip()

    def __call__(self, *words):
        done = run([self.python, "-B", HERE / "lnt_side.py", *words])
        check(done.returncode == 0, f"LNT, {words}: {done.stderr}")
        return done.stdout


def ours(msleaks, file):
    return {verb: json.loads(msleaks.output("profile", verb, file)) for verb in ("counters", "functions", "code")}


def expect_same_content(lnt, msleaks, file, what):
    theirs = json.loads(lnt("show", file))
    for verb, content in ours(msleaks, file).items():
        equal(f"{what}: {verb}", content, theirs[verb])
    return theirs


def expect_read(lnt, msleaks, folder, file, what):
    """Checks that LNT reads the same content from a file of msleaks as msleaks does, and writes the same bytes again."""
    content = expect_same_content(lnt, msleaks, file, what)
    equal(f"{what}: version", content["version"], 2)
    check(content["functions"] and any(content["code"].values()), f"{what}: there is nothing in it")
    lnt("again", file, folder / "again.lntprof")
    check((folder / "again.lntprof").read_bytes() == file.read_bytes(), f"{what}: LNT writes other bytes")
    return content


def graphs_of_a_run(msleaks, folder):
    """Runs a program that counts its edges. Returns the graphs of the run, and the path of the exported profile."""
    source = HERE / "programs/branches.cpp"
    built = run([msleaks.bin / "msleaks-clang++", "--msl-cfg", "-std=c++20", "-O1", "-g", source, "-o", folder / "branches"])
    check(built.returncode == 0, built.stderr)
    recorded = run([msleaks.bin / "msleaks-run", "--no-report", "-o", folder / "run", "--", folder / "branches"])
    check(recorded.returncode == run([folder / "branches"]).returncode, recorded.stderr)
    msleaks.output("profile", "export", folder / "run", "--lnt", folder / "run.lntprof")
    return json.loads(msleaks.output("cfg", folder / "run", "--json")), folder / "run.lntprof"


def expect_counts(graphs, content):
    """Checks that the totals that LNT reads from the file equal the sums over the graphs."""
    blocks = [block for graph in graphs for block in graph["blocks"]]
    edges = [edge["count"] or 0 for graph in graphs for edge in graph["edges"]]
    equal("the whole", content["counters"], {"instructions": sum(block["count"] * block["instructions"] for block in blocks),
                                             "block-visits": sum(block["count"] for block in blocks), "edge-count": sum(edges)})
    names = [text.split("# ")[1] for code in content["code"].values() for _, _, text in code if "# edge" in text]
    ran = [graph for graph in graphs if any(block["count"] for block in graph["blocks"])]
    equal("edges", sorted(names), sorted(edge["name"] for graph in ran for edge in graph["edges"]))


def recording_of_perf(folder):
    """Returns the path of a recording of perf, or None if perf cannot record."""
    file = folder / "perf.data"
    try:
        done = run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-o", file, "--", sys.executable, "-c", "sum(range(3000000))"])
    except OSError:
        return None
    return file if done.returncode == 0 else None


def expect_files_of_lnt(lnt, msleaks, folder):
    first, second, upgraded = folder / "chance.v1.lntprof", folder / "chance.v2.lntprof", folder / "chance.upgraded.lntprof"
    lines = 0
    for seed in range(CHANCES):
        lnt("make", str(seed), first, second)
        content = expect_same_content(lnt, msleaks, second, f"seed {seed}, version 2")
        expect_same_content(lnt, msleaks, first, f"seed {seed}, version 1")
        msleaks.output("profile", "upgrade", first, upgraded)
        check(upgraded.read_bytes() == second.read_bytes(), f"seed {seed}: our upgrade has other bytes than LNT's")
        lines += sum(map(len, content["code"].values()))
    print(f"{CHANCES} profiles that LNT wrote, {lines} lines")


def main():
    build, scratch, with_plugin = arguments("build", "scratch", "with-plugin")
    msleaks, lnt, folder = Msleaks(build), Lnt(), Path(scratch)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if int(with_plugin):
        graphs, exported = graphs_of_a_run(msleaks, folder)
        expect_counts(graphs, expect_read(lnt, msleaks, folder, exported, "a run"))
    sources = {"LLVM's counters": GOLDEN / "front-end.22.profdata", "LNT's first version": GOLDEN / "lnt.v1.lntprof", "perf": recording_of_perf(folder)}
    for what, source in sources.items():
        if source is None:
            print("perf cannot record here")
            continue
        stored = folder / "stored.lntprof"
        msleaks.output("profile", "upgrade", source, stored)
        expect_read(lnt, msleaks, folder, stored, what)
    expect_files_of_lnt(lnt, msleaks, folder)


if __name__ == "__main__":
    main()
