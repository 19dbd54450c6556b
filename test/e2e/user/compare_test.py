#!/usr/bin/env python3
"""Tests `msleaks compare` with builds of one program: unchanged, with moved lines, with other names, and with other memory.
   usage: compare_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, Verb, arguments, check, equal, line_of  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "compared.c"
SAME, DIFFERS, USAGE, BAD_INPUT = 0, 1, 2, 3
KIB = 1024


class Comparison(Verb):
    name = "compare"

    def record(self, name, text=None, file=PROGRAM.name, flags=("-O2",)):
        """Builds the program in a new folder and records it. Returns the run's folder."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        source = folder / file
        source.write_text(text or PROGRAM.read_text())
        self.msleaks.compile(source, folder / "compared", f"-I{REPOSITORY / 'runtime' / 'include'}", flags=flags)
        self.msleaks.run(folder / "run", [folder / "compared"])
        return folder / "run"


def state_of(found, function):
    """Returns a list of the states of the places in this function."""
    return [site["state"] for site in found["sites"] if site["site"]["function"] == function]


def expect_no_difference(comparison, run):
    """A build that needs the same memory must not differ, even if lines or names in its source differ."""
    text = PROGRAM.read_text()
    twins = {"itself": run,
             "again": comparison.record("again"),
             "moved lines": comparison.record("moved", "// One line,\n// and another one.\n" + text),
             "a renamed function": comparison.record("renamed", text.replace("load(", "read_weights(")),
             "a renamed file": comparison.record("file", file="other.c"),
             "-O0": comparison.record("plain", flags=("-O0",))}
    for name, twin in twins.items():
        said = json.loads(comparison.expect(SAME, name, run, twin, "--json"))
        check(not said["differs"] and {site["state"] for site in said["sites"]} <= {"same", "moved"}, f"{name}: {said['sites']}")


def expect_changes(comparison, run):
    text = PROGRAM.read_text()
    twice = comparison.record("twice", text.replace("kWeights = 100", "kWeights = 200"))
    said = json.loads(comparison.expect(DIFFERS, "twice the weights", run, twice, "--json"))
    equal("change of the peak", said["peak"]["change_bytes"], 100 * KIB)
    equal("state of load", state_of(said, "load"), ["grown"])
    equal("state of remember", state_of(said, "remember"), ["moved"])
    line = line_of(twice.parent / PROGRAM.name, "// weights")
    shown = " ".join(comparison.expect(DIFFERS, "the text", run, twice).split())
    check(f"B needs 100.0 KiB more at its peak: 100.0 KiB of it at compared.c:{line} in load (`weights`), twice the bytes for each block." in shown, shown)
    equal("findings of one run only", {finding["kind"] for finding in said["findings"]}, set())
    back = json.loads(comparison.expect(DIFFERS, "the other direction", twice, run, "--json"))
    equal("change back", back["peak"]["change_bytes"], -100 * KIB)

    without = comparison.record("without", text.replace("remember(i);", ""))
    equal("state of a place that is gone", state_of(json.loads(comparison.expect(DIFFERS, "gone", run, without, "--json")), "remember"), ["gone"])
    equal("state of a new place", state_of(json.loads(comparison.expect(DIFFERS, "new", without, run, "--json")), "remember"), ["new"])


def expect_several_runs(comparison, run):
    """Commas separate the runs of a side. A place varies if its bytes differ between runs of one side as much as between the sides."""
    again, twice = comparison.scratch / "again" / "run", comparison.scratch / "twice" / "run"
    said = json.loads(comparison.expect(DIFFERS, "several runs", f"{run},{again}", f"{twice},{twice}", "--json"))
    equal("number of runs", said["noise"]["runs"], [2, 2])
    equal("state of load", state_of(said, "load"), ["grown"])
    said = json.loads(comparison.expect(SAME, "noise", f"{run},{twice}", f"{twice},{run}", "--json"))
    equal("state of load that varies", state_of(said, "load"), ["varies"])
    comparison.refuse(BAD_INPUT, "nothing", run, f"{twice},{comparison.scratch / 'nothing'}")


def expect_tree(comparison, run):
    text = comparison.expect(DIFFERS, "the tree", run, comparison.scratch / "twice" / "run", "--all")
    check("  Grown and new: +100.0 KiB in 1 place\n" in text, text)


def expect_moments(comparison, run):
    """At the mark, both builds have already freed the weights. So they must not differ."""
    twice = comparison.scratch / "twice" / "run"
    said = json.loads(comparison.expect(SAME, "at the mark", run, twice, "--at", "mark:freed", "--json"))
    equal("bytes at the mark", said["at"]["change_bytes"], 0)
    equal("places at the mark", state_of(said, "load"), [])


def expect_files(comparison, run):
    """The comparison of two result files must equal the comparison of their runs."""
    twice = comparison.scratch / "twice" / "run"
    files = []
    for number, folder in enumerate((run, twice)):
        files.append(comparison.scratch / f"{number}.json")
        report = subprocess.run([comparison.msleaks.bin / "msleaks", "report", folder, "--json"], capture_output=True, text=True)
        files[-1].write_text(report.stdout)
    of_runs = json.loads(comparison.expect(DIFFERS, "runs", run, twice, "--json"))
    of_files = json.loads(comparison.expect(DIFFERS, "files", *files, "--json"))
    for key in ("peak", "sites", "leaks", "findings"):
        equal(f"{key} of files", of_files[key], of_runs[key])
    comparison.refuse(USAGE, "is a result file", files[0], run, "--at", "mark:freed")


def expect_refusals(comparison, run):
    comparison.refuse(BAD_INPUT, "nothing", run, comparison.scratch / "nothing")
    comparison.refuse(USAGE, "is no moment", run, run, "--at", "noon")
    comparison.refuse(USAGE, "-o FOLDER", run, run, "--policy", "msmemscope")


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    comparison = Comparison(Msleaks(build, llvm), scratch)
    run = comparison.record("first")
    expect_no_difference(comparison, run)
    expect_changes(comparison, run)
    expect_several_runs(comparison, run)
    expect_tree(comparison, run)
    expect_moments(comparison, run)
    expect_files(comparison, run)
    expect_refusals(comparison, run)


main()
