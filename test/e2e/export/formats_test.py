#!/usr/bin/env python3
"""Exports recorded runs as folded, speedscope, pprof, dhat, csv and db. Independent readers must read the same paths and totals from each
of the formats as `msleaks report --json` has.

    formats_test.py BUILD SCRATCH
"""
import contextlib
import csv
import gzip
import json
import os
import re
import shutil
import sqlite3
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, line_of, run  # noqa: E402

try:
    import jsonschema
except ImportError:  # Debian's package python3-jsonschema is not installed
    jsonschema = None

HERE = Path(__file__).parent
HOSTILE = 'a;b "c", \'d\'\n<e> 7'
WRITTEN = 'a;b "c", \'d\'\\x0a<e> 7'  # a control character is escaped


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields_of(data):
    """Decodes a message of Protocol Buffers: {field: [numbers or bytes]}."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7:
            check(key & 7 == 2, f"wire type {key & 7}")
            value, at = data[at : at + value], at + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def numbers_of(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


# Each reader returns a Counter of bytes by path. A path is a tuple of (function, file, line), the outermost call first. A format
# without files has None instead.

def read_folded(file):
    paths = Counter()
    for line in file.read_text().splitlines():
        path, size = line.rsplit(" ", 1)
        paths[tuple((name, None, None) for name in path.split(";"))] += int(size)
    return paths


def read_speedscope(file):
    read = json.loads(file.read_text())
    if jsonschema is not None:
        jsonschema.validate(read, json.loads((HERE / "speedscope/file-format-schema.json").read_text()))
    frames = [(frame["name"], frame.get("file", ""), frame.get("line", 0)) for frame in read["shared"]["frames"]]
    (profile,) = read["profiles"]
    equal("samples of speedscope", len(profile["samples"]), len(profile["weights"]))
    equal("endValue of speedscope", profile["endValue"], sum(profile["weights"]))
    paths = Counter()
    for sample, weight in zip(profile["samples"], profile["weights"]):
        paths[tuple(frames[number] for number in sample)] += weight
    return paths


def read_pprof(file):
    profile = fields_of(gzip.decompress(file.read_bytes()))
    texts = [text.decode() for text in profile[6]]
    equal("first string of pprof", texts[0], "")
    types = [[texts[number] for number in (fields[1][0], fields[2][0])] for fields in map(fields_of, profile[1])]
    equal("sample types of pprof", types, [["inuse_objects", "count"], ["inuse_space", "bytes"]])
    equal("default type of pprof", texts[profile[14][0]], "inuse_space")
    functions = {fields[1][0]: fields for fields in map(fields_of, profile[5])}
    locations = {fields[1][0]: fields for fields in map(fields_of, profile[4])}
    paths = Counter()
    for sample in map(fields_of, profile[2]):
        frames = []
        for number in numbers_of(sample[1][0]):
            for line in map(fields_of, locations[number][4]):
                function = functions[line[1][0]]
                frames.append((texts[function[2][0]], texts[function.get(4, [0])[0]], line.get(2, [0])[0]))
        paths[tuple(reversed(frames))] += numbers_of(sample[2][0])[1]
    return paths


def read_dhat(file):
    read = json.loads(file.read_text())
    equal("version of dhat", read["dhatFileVersion"], 2)
    frames = []
    for text in read["ftbl"]:
        name, place, line = re.fullmatch(r"(.*?)(?: \(([^()]*?)(?::(\d+))?\))?", text).groups() if text.endswith(")") else (text, None, None)
        frames.append((name, place or "", int(line or 0)) if line else (text, "", 0))
    paths = Counter()
    for point in read["pps"]:
        path = tuple(frames[number] for number in reversed(point["fs"]))
        paths[path] += point["tb"]
    distinct = {tuple(point["fs"]) for point in read["pps"]}
    equal("distinct points of dhat", len(distinct), len(read["pps"]))  # the viewer refuses others
    return paths


READERS = {"folded": read_folded, "speedscope": read_speedscope, "pprof": read_pprof, "dhat": read_dhat}


def names_only(paths):
    names = Counter()
    for path, size in paths.items():
        if size:  # the format folded has no path of blocks without bytes
            names[tuple(name for name, _, _ in path)] += size
    return names


class Run:
    def __init__(self, msleaks, folder):
        self.msleaks, self.folder = msleaks, folder
        self.report = msleaks.report(folder).json

    def export(self, name, blocks):
        file = self.folder.with_suffix(f".{blocks}.{name}")
        done = run([self.msleaks.bin / "msleaks", "export", self.folder, "--format", name, "--of", blocks, "-o", file])
        equal(f"{name} of {blocks}: status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
        return file

    def paths(self, blocks):
        """Reads all formats. Checks that the totals are the report's."""
        read = {name: reader(self.export(name, blocks)) for name, reader in READERS.items()}
        for name, paths in read.items():
            equal(f"bytes of {name}, {blocks}", sum(paths.values()), self.report[blocks]["bytes"])
        return read


def expect_go(recorded, blocks):
    """The Go toolchain contains pprof."""
    go = shutil.which("go")
    if go is None:
        print("no go on this machine, so only this test's own reader has read pprof")
        return
    done = run([go, "tool", "pprof", "-raw", recorded.export("pprof", blocks)], env={**os.environ, "GOTOOLCHAIN": "local"})
    equal(f"status of go tool pprof ({done.stderr})", done.returncode, 0)
    check("inuse_objects/count inuse_space/bytes[dflt]" in done.stdout, f"sample types: {done.stdout[:500]}")
    sizes = re.findall(r"^ +\d+ +(\d+): [\d ]+$", done.stdout, re.M)
    equal(f"bytes that go reads, {blocks}", sum(map(int, sizes)), recorded.report[blocks]["bytes"])


def dumped_rows(recorded, name):
    """Exports the folder of a format of msMemScope. Returns the rows of each file, with the columns as keys."""
    folder = recorded.folder.with_suffix(f".{name}")
    done = run([recorded.msleaks.bin / "msleaks", "export", recorded.folder, "--format", name, "-o", folder])
    equal(f"{name}: status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    files = {}
    for file in sorted(folder.rglob(f"memscope_dump_*.{name}")):
        with contextlib.ExitStack() as stack:
            if name == "csv":
                rows = list(csv.DictReader(stack.enter_context(open(file, newline="", encoding="utf-8")), strict=True))
            else:
                database = stack.enter_context(contextlib.closing(sqlite3.connect(file)))
                equal("check of the database", database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                database.row_factory = sqlite3.Row
                rows = [{key: str(row[key]) for key in row.keys()} for row in database.execute("SELECT * FROM memscope_dump")]
        files[file.relative_to(folder).parts[1]] = rows
    return files


def expect_dumps(recorded, line):
    """Replays the rows of the dumps. The line must be in a stack of a row."""
    files = dumped_rows(recorded, "csv")
    equal("rows of db", dumped_rows(recorded, "db"), files)
    rows = [row for of_file in files.values() for row in of_file]
    for name, of_file in files.items():
        times = [int(row["Timestamp(ns)"]) for row in of_file]
        check(times == sorted(times), f"the rows of {name} are not in the order of time")
    rows.sort(key=lambda row: int(row["Timestamp(ns)"]))
    alive, bytes_, peak, leaked = {}, 0, 0, 0
    for row in rows:
        attributes = json.loads(row["Attr"])
        key = (row["Process Id"], attributes.get("allocation_id"))
        if row["Event"] == "MALLOC" and row["Event Type"] != "PTA":
            check(key not in alive, f"the block {key} is there twice")
            alive[key] = int(attributes["size"])
            bytes_ += alive[key]
        elif row["Event"] == "FREE" and row["Event Type"] != "PTA":
            bytes_ -= alive[key]
            equal(f"size of the block {key}", int(attributes["size"]), alive.pop(key))
            leaked += int(attributes["size"]) if "shadow" in attributes else 0
        peak = max(peak, bytes_)
    equal("peak of the dumps", peak, recorded.report["peak"]["bytes"])
    leaks = recorded.report["leaks"]
    equal("leaks of the dumps", leaked, leaks["bytes"] + leaks["suppressed"]["bytes"])
    check(any(line in row["Call Stack(C)"] or line in row["Call Stack(Python)"] for row in rows), f"no stack has {line}")


def expect_imports(recorded, same_findings):
    """Reads the exported dumps back. The plugin tells which functions hand out blocks, and a dump does not, so places may differ."""
    for name in ("csv", "db"):
        read = recorded.msleaks.report(recorded.folder.with_suffix(f".{name}")).json
        for blocks in ("peak", "leaks"):
            equal(f"bytes of {name}, {blocks}", read[blocks]["bytes"], recorded.report[blocks]["bytes"])
        if same_findings:
            equal(f"findings of {name}", essence_of(read), essence_of(recorded.report))


def essence_of(report):
    """Returns the parts of the findings that a dump keeps. A dump has control characters as they are shown."""
    keys = ("kind", "heap", "device", "bytes", "count", "saves_bytes")
    places = [[str(finding["site"][key]).replace("\n", "\\x0a") for key in ("file", "line", "function")] for finding in report["findings"]]
    return [[finding[key] for key in keys] + place for finding, place in zip(report["findings"], places)]


def expect_program(msleaks, scratch):
    source, program, folder = HERE / "programs/kept.cpp", scratch / "kept", scratch / "kept-run"
    msleaks.compile(source, program)
    msleaks.run(folder, [program], options=["--no-report"])
    recorded = Run(msleaks, folder)
    file = str(source)
    inner = (("grow", file, line_of(source, "= make(")), ("make", file, line_of(source, "made here")))
    wanted = {"peak": (3_000_000, (("main", file, line_of(source, "kept = grow")), *inner)),
              "leaks": (100_000, (("main", file, line_of(source, "  lose();")), ("lose", file, line_of(source, "grow(100")), *inner))}
    for blocks, (size, calls) in wanted.items():
        read = recorded.paths(blocks)
        equal(f"paths of dhat, {blocks}", read["dhat"], read["speedscope"])
        equal(f"paths of pprof, {blocks}", read["pprof"], read["speedscope"])
        equal(f"paths of folded, {blocks}", names_only(read["folded"]), names_only(read["speedscope"]))
        (found,) = [path for path, weight in read["speedscope"].items() if weight == size]
        shown = [(name.removeprefix("(anonymous namespace)::").split("(")[0], place, line) for name, place, line in found]
        equal(f"last calls of the path, {blocks}", tuple(shown[-len(calls):]), calls)
        expect_go(recorded, blocks)
    expect_dumps(recorded, f") {file}:{line_of(source, 'made here')}")
    expect_imports(recorded, same_findings=False)


def expect_hostile_name(msleaks, scratch):
    source, folder = HERE / "programs/hostile.py", scratch / "hostile-run"
    msleaks.run(folder, [shutil.which("python3"), "-B", source, HOSTILE], options=["--no-report"])
    recorded = Run(msleaks, folder)
    for blocks in ("peak", "leaks"):
        read = recorded.paths(blocks)
        equal(f"paths of pprof, {blocks}", read["pprof"], read["speedscope"])
        expect_go(recorded, blocks)
    line = line_of(source, "kept here")
    expect_dumps(recorded, f"{source}({line}): {WRITTEN}")
    expect_imports(recorded, same_findings=True)
    read = recorded.paths("peak")
    kept = [path for path, size in read["speedscope"].items() if size > 5 << 20 and (WRITTEN, str(source), line) in path]
    equal("paths with the name in speedscope", len(kept), 1)
    name = f"{WRITTEN.replace(';', chr(92) + 'x3b')} ({source}:{line})"
    equal("paths with the name in folded", len([path for path in read["folded"] if (name, None, None) in path]), 1)
    text = f"{WRITTEN} ({source}:{line})"
    check(text in json.loads(recorded.export("dhat", "peak").read_text())["ftbl"], "the name is not in the frames of dhat")


def main():
    build, scratch = arguments("build", "scratch")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    expect_program(msleaks, scratch)
    expect_hostile_name(msleaks, scratch)


if __name__ == "__main__":
    main()
