#!/usr/bin/env python3
"""Exports recorded runs as sarif, otlp, massif, pytorch, perfetto and junit. Readers of PyPI and Valgrind's ms_print must read the same numbers and places
as `msleaks report --json` has. Exits with 77 if the packages cannot be installed.

    readers_test.py BUILD SCRATCH
"""
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, line_of, run, skip  # noqa: E402

HERE = Path(__file__).resolve().parent
HOSTILE = 'a;b "c", \'d\'\n<e>{f}#%[g](h) 7'
WRITTEN = HOSTILE.replace("\n", "\\x0a")  # a control character is escaped
LEVELS = {"proved": "error", "likely": "warning", "hint": "note"}


class Readers:
    def __init__(self):
        done = run([HERE / "fetch_readers.sh"])
        if done.returncode == 77:
            skip(done.stderr.strip())
        check(done.returncode == 0, f"the readers cannot be installed: {done.stderr}")
        self.python = done.stdout.strip()

    def __call__(self, name, file):
        done = run([self.python, "-B", HERE / "reader_side.py", name, file])
        check(done.returncode == 0, f"{name}: {done.stderr}")
        return json.loads(done.stdout)


class Run:
    def __init__(self, msleaks, readers, folder):
        self.msleaks, self.readers, self.folder = msleaks, readers, folder
        self.report = msleaks.report(folder).json

    def export(self, name, *options):
        file = self.folder.with_suffix(f".{name}")
        done = run([self.msleaks.bin / "msleaks", "export", self.folder, "--format", name, *options, "-o", file])
        equal(f"{name}: status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
        return file

    def sarif(self):
        """Reads the findings. Each must have the place and the numbers of the report."""
        read = self.readers("sarif", self.export("sarif"))
        findings = self.report["findings"]
        equal("number of results", len(read["results"]), len(findings))
        for result, finding in zip(read["results"], findings):
            equal("rule", result["ruleId"], finding["kind"])
            equal("level", result["level"], LEVELS[finding["confidence"]])
            for key in ("bytes", "count", "saves_bytes", "saves_cumulative_bytes", "heap", "evidence"):
                equal(key, result["properties"][key], finding[key])
            place = result["locations"][0]["physicalLocation"]
            if finding["site"]["file"]:
                equal("file", unquote(place["artifactLocation"]["uri"]).removeprefix("file://"), finding["site"]["file"])
                equal("line", place["region"]["startLine"], finding["site"]["line"])
            paths = [path for path in finding["paths"] if path["frames"]]
            equal("paths", len(result.get("stacks", [])), len(paths))
            for stack, path in zip(result.get("stacks", []), paths):
                equal("frames", len(stack["frames"]), len(path["frames"]))
        equal("peak in sarif", read["properties"]["peak_bytes"], self.report["peak"]["bytes"])
        return read

    def otlp(self, blocks):
        read = self.readers("otlp", self.export("otlp", "--of", blocks))
        of = self.report[blocks]
        equal("types", list(read["profiles"]), ["inuse_space/bytes", "inuse_objects/count"])
        equal(f"bytes in otlp, {blocks}", sum(size for _, size in read["profiles"]["inuse_space/bytes"]), of["bytes"])
        if "count" in of:
            equal(f"blocks in otlp, {blocks}", sum(size for _, size in read["profiles"]["inuse_objects/count"]), of["count"])
        return read

    def otlp_paths(self, blocks):
        paths = Counter()
        for path, size in self.otlp(blocks)["profiles"]["inuse_space/bytes"]:
            paths[tuple(map(tuple, path))] += size
        return paths

    def perfetto(self):
        """Reads the timeline. The counters and the profiles must have the peaks of the report."""
        read = self.readers("perfetto", self.export("perfetto"))
        wanted = {"memory in use": self.report["peak"]["bytes"]}
        wanted |= {f"heap {heap['heap']}": heap["bytes"] for heap in self.report["peak"]["by_heap"]}
        equal("peaks in perfetto", read["peaks"], wanted)
        sums = {name: sum(size for _, size, _ in samples) for name, samples in read["profiles"].items()}
        equal("profiles in perfetto", sums, wanted)
        return read["profiles"]["memory in use"]

    def pytorch(self):
        """Reads the snapshot. The blocks at the end must be those of the report."""
        read = self.readers("pytorch", self.export("pytorch"))
        alive = self.report["leaks"]["bytes"] + self.report["leaks"]["suppressed"]["bytes"]
        equal("memory at the end in pytorch", sum(int(size) for _, size in read["active"]), alive)
        check(read["drawn"], "the page has other events")
        return read

    def massif(self):
        """Reads the text of ms_print: the highest total, and the lines of the tree at the peak."""
        done = run(["ms_print", "--threshold=0", self.export("massif")])
        equal(f"status of ms_print ({done.stderr})", done.returncode, 0)
        rows = re.findall(r"^ *\d+ +[\d,.]+ +([\d,]+) +([\d,]+) +0 +0$", done.stdout, re.M)
        totals = [int(total.replace(",", "")) for total, _ in rows]
        equal("peak in massif", max(totals), self.report["peak"]["bytes"])
        check("(peak)" in done.stdout, "ms_print has no peak")
        tree = re.findall(r"^((?:[| ] )*(?:->)?)\d+\.\d+% \(([\d,]+)B\) (.*)$", done.stdout, re.M)
        equal("bytes of the tree", int(tree[0][1].replace(",", "")), self.report["peak"]["bytes"])
        top = sum(int(size.replace(",", "")) for arrow, size, _ in tree if arrow == "->")
        equal("bytes of the tree's first calls", top, self.report["peak"]["bytes"])
        return [(int(size.replace(",", "")), text) for _, size, text in tree]


def expect_program(msleaks, readers, scratch):
    source, program, folder = HERE / "programs/kept.cpp", scratch / "kept", scratch / "kept-run"
    msleaks.compile(source, program)
    msleaks.run(folder, [program], options=["--no-report"])
    recorded = Run(msleaks, readers, folder)
    lost = line_of(source, "made here")
    leaks = [result for result in recorded.sarif()["results"] if result["properties"]["bytes"] == 100_000]
    lines = [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in leaks]
    equal("line of the leak in sarif", lines, [line_of(source, "grow(100")])
    for blocks, size, function in (("peak", 3_000_000, "main"), ("leaks", 100_000, "lose")):
        found = [path for path, bytes_ in recorded.otlp_paths(blocks).items() if bytes_ == size]
        equal(f"paths with these bytes, {blocks}", len(found), 1)
        check(any(function in name for name, _, _ in found[0]), f"{function} is not on the path: {found}")
        equal(f"line of the last call, {blocks}", found[0][-1][1:], (str(source), lost))
    if shutil.which("ms_print"):
        caller = f"kept.cpp:{line_of(source, '= grow(3')})"
        check(any(size == 3_000_000 and text.endswith(caller) for size, text in recorded.massif()), "the tree has no such line")
    else:
        print("Debian's package valgrind is not installed, so ms_print has not read the format massif")
    lost = [path for path, size in recorded.pytorch()["active"] if size == "100000"]
    check(len(lost) == 1 and re.search(r"kept\.cpp:\d+:.*lose.*kept\.cpp:\d+:.*make", lost[0]), f"path of the lost block: {lost}")
    kept = [path for path, size, count in recorded.perfetto() if (size, count) == (3_000_000, 1)]
    equal("path of the kept block in perfetto", [line for _, line in kept[0]][-3:],
          [line_of(source, text) for text in ("kept = grow", "= make(", "made here")])
    expect_junit(msleaks, readers, recorded)


def expect_junit(msleaks, readers, recorded):
    file = recorded.folder.with_suffix(".xml")
    for limit, verdict in ((0, "failed"), (recorded.report["leaks"]["bytes"], "passed")):
        done = run([msleaks.bin / "msleaks", "check", recorded.folder, "--leaks", str(limit), "--json", "--junit", file])
        told = json.loads(done.stdout)
        equal("status of the check", done.returncode, 0 if verdict == "passed" else 1)
        read = readers("junit", file)
        names = {"peak": "peak", "leaks": "leaked", "places": "leaking places", "pool-leaks": "leaked in pools"}
        wanted = {names[gate["name"]]: [gate["verdict"]] for gate in told["gates"]} | {"recording": [told["recording"]["verdict"]]}
        equal("cases of junit", read["cases"], wanted)
        equal("verdict on the leaks", read["cases"]["leaked"], [verdict])
        equal("failures of junit", read["failures"], 1 if verdict == "failed" else 0)
        if verdict == "failed":
            check("kept.cpp" in read["texts"]["leaked"][0], f"the failure names no place: {read['texts']}")


def expect_hostile_name(msleaks, readers, scratch):
    source, folder = HERE / "programs/hostile.py", scratch / "hostile-run"
    msleaks.run(folder, [shutil.which("python3"), "-B", source, HOSTILE], options=["--no-report"])
    recorded = Run(msleaks, readers, folder)
    line = line_of(source, "kept here")
    recorded.sarif()
    recorded.pytorch()
    recorded.perfetto()
    for blocks in ("peak", "leaks"):
        recorded.otlp(blocks)
    kept = [path for path, size in recorded.otlp_paths("peak").items() if size > 5 << 20 and (WRITTEN, str(source), line) in path]
    equal("paths with the name in otlp", len(kept), 1)
    if shutil.which("ms_print"):
        shown = f"{WRITTEN} ({source}:{line})".replace("#", "\\x23")
        check(any(text.endswith(shown) for _, text in recorded.massif()), "the name is not in the tree")


def expect_refusals(msleaks, recorded):
    for name in ("sarif", "massif"):
        done = run([msleaks.bin / "msleaks", "export", recorded, "--format", name, "--at", "peak"])
        equal(f"{name} --at: status", done.returncode, 2)
        equal(f"{name} --at: lines", done.stderr.count("\n"), 1)
    done = run([msleaks.bin / "msleaks", "check", recorded, "--junit", "/dev/full/file"])
    check(done.returncode in (2, 4), f"check --junit: status {done.returncode}")


def main():
    build, scratch = arguments("build", "scratch")
    scratch = empty_folder(scratch)
    msleaks, readers = Msleaks(build), Readers()
    expect_program(msleaks, readers, scratch)
    expect_hostile_name(msleaks, readers, scratch)
    expect_refusals(msleaks, scratch / "kept-run")


if __name__ == "__main__":
    main()
