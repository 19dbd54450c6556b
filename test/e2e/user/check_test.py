#!/usr/bin/env python3
"""Tests `msleaks check`, which compares a run with limits or with a baseline, as a step of continuous integration. A program with a
known leak is edited, made worse, or killed. Also tests refused inputs.
   usage: check_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, Verb, arguments, check, equal, line_of  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "gated.c"
RUNS, LEAKED, FORGOTTEN, MORE = 50, 8000, 50, 30000
PASSED, FAILED, USAGE, BAD_INPUT = 0, 1, 2, 3


class Gate(Verb):
    name = "check"

    def __init__(self, msleaks, scratch):
        super().__init__(msleaks, scratch)
        self.baseline = self.scratch / "baseline.json"

    def record(self, name, text=None, flags=(), arguments=()):
        """Builds the program in a new folder and records it. Returns the run's folder."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        source = folder / PROGRAM.name
        source.write_text(text or PROGRAM.read_text())
        self.msleaks.compile(source, folder / "gated", *flags)
        return self.record_again(folder / "gated", folder / "run", arguments)

    def record_again(self, program, folder, arguments=()):
        self.msleaks.run(folder, [program, *arguments])
        return folder


def expect_equal_peaks(gate, run):
    """Checks that a deterministic program has the same peak of requested bytes in each run."""
    peaks = set()
    for number in range(RUNS):
        again = gate.record_again(run.parent / "gated", gate.scratch / "again")
        said = json.loads(gate.expect(PASSED, f"run {number}", again, "--baseline", gate.baseline, "--peak", "+0", "--leaks", str(LEAKED), "--sites", "new", "--json"))
        check(said["passed"] and said["new_places"] == said["gone_places"] == said["peak_changes"] == [], f"run {number}: {said}")
        peaks.add(said["gates"][0]["now"])
    equal("different peaks", len(peaks), 1)
    check(peaks.pop() >= 1000000 + LEAKED, "the peak has not all")


def expect_limits(gate, run):
    gate.expect(PASSED, "the known leak", run, "--leaks", str(LEAKED))
    gate.expect(PASSED, "the known leak in KiB", run, "--leaks", "8KiB")
    gate.expect(FAILED, "a byte less", run, "--leaks", str(LEAKED - 1))
    gate.expect(PASSED, "a peak of at most", run, "--peak", "2MiB")
    gate.expect(FAILED, "a lower one", run, "--peak", "1000000")
    gate.expect(PASSED, "no limit at all", run)


def expect_edited(gate, run):
    """Adds two lines at the top of the source and builds it in another folder. The leak must still count as the known leak. The
    baseline may be a file or a run."""
    moved = gate.record("moved", "// One line,\n// and another one.\n" + PROGRAM.read_text())
    for baseline in (gate.baseline, run):
        text = gate.expect(PASSED, "an edited program", moved, "--baseline", baseline, "--peak", "+0%", "--leaks", str(LEAKED), "--sites", "new")
        check("| leaking places | 1 | 1 | 0 new, 0 gone | none new | passed |" in text, text)


def expect_worse(gate, run):
    worse = gate.record("worse", flags=["-DWORSE"])
    text = gate.expect(FAILED, "a worse program", worse, "--baseline", gate.baseline, "--peak", "+2%", "--leaks", str(LEAKED), "--sites", "new")
    check("### msleaks check: failed" in text and text.count("**failed**") == 3, text)
    place = f"gated.c:{line_of(PROGRAM, 'forgotten = used(')}:"
    check(any(place in line and "| 50 B | 1 | `work`" in line for line in text.splitlines()), f"the new place {place} is not named:\n{text}")
    check("**What changed at the peak**" in text, text)
    gate.expect(PASSED, "limits that allow it", worse, "--baseline", gate.baseline, "--peak", "+4%", "--leaks", str(LEAKED + FORGOTTEN))
    gate.expect(PASSED, "more bytes allowed", worse, "--baseline", gate.baseline, "--peak", f"+{MORE + FORGOTTEN}")
    gate.expect(FAILED, "a byte less", worse, "--baseline", gate.baseline, "--peak", f"+{MORE + FORGOTTEN - 1}")
    gate.expect(PASSED, "fixed again", run, "--baseline", worse, "--peak", "+0", "--sites", "new")
    rules = gate.scratch / "rules"
    rules.write_text("leak:^work$\n")
    gate.expect(PASSED, "a suppressed place", worse, "--baseline", gate.baseline, "--sites", "new", "--suppressions", rules)


def expect_incomplete(gate, run):
    killed = gate.record_again(run.parent / "gated", gate.scratch / "killed", ["kill"])
    limits = ["--baseline", gate.baseline, "--leaks", "1MiB", "--sites", "new"]
    text = gate.expect(FAILED, "a killed program", killed, *limits)
    check("| recording | complete | 1 process was killed by a signal | | complete | **failed** |" in text, text)
    check("- exit status 137, in the baseline 0" in text, text)
    gate.expect(PASSED, "one that may be killed", killed, *limits, "--allow-incomplete")
    cut = gate.scratch / "cut"
    shutil.rmtree(cut, ignore_errors=True)
    shutil.copytree(run, cut)
    with open(cut / "trace.mslt", "r+b") as trace:
        trace.truncate(trace.seek(0, os.SEEK_END) - 30)
    text = gate.expect(FAILED, "a damaged trace", cut, *limits)
    check("damaged" in text, text)


def expect_saved(gate, run):
    saved = gate.scratch / "saved.json"
    saved.unlink(missing_ok=True)
    done = gate.call(run, "--leaks", "0", "--save", saved)
    equal("status", done.returncode, FAILED)
    check(not saved.exists() and "is not written, because the check failed" in done.stderr, f"a failed check saves: {done.stderr}")
    gate.expect(PASSED, "a file to keep", run, "--leaks", str(LEAKED), "--save", saved)
    equal("what is saved twice", saved.read_text(), gate.baseline.read_text())
    gate.expect(PASSED, "its own baseline, renewed", run, "--baseline", saved, "--save", saved)
    link = gate.scratch / "link.json"
    link.unlink(missing_ok=True)
    link.symlink_to(saved)
    gate.refuse(USAGE, "symbolic link", run, "--save", link)


def expect_refused(gate, run):
    gate.refuse(USAGE, "--baseline", run, "--peak", "+2%")
    gate.refuse(USAGE, "--baseline", run, "--sites", "new")
    gate.refuse(USAGE, "`2%` is no limit", run, "--peak", "2%")
    gate.refuse(USAGE, "--leaks", run, "--leaks", "few")
    gate.refuse(USAGE, "--sites", run, "--baseline", run, "--sites", "old")
    gate.refuse(USAGE, "RUN", "--leaks", "0")
    gate.refuse(BAD_INPUT, "nowhere", gate.scratch / "nowhere")
    gate.refuse(BAD_INPUT, "nowhere", run, "--baseline", gate.scratch / "nowhere")
    gate.refuse(BAD_INPUT, "neither a run nor a file", run, "--baseline", PROGRAM)
    gate.refuse(BAD_INPUT, "nowhere", run, "--suppressions", gate.scratch / "nowhere")
    other = gate.scratch / "other"
    gate.msleaks.run(other, [shutil.which("true")])
    gate.refuse(BAD_INPUT, "another program: 'true', and this run is of 'gated'", run, "--baseline", other)
    newer = gate.scratch / "newer.json"
    newer.write_text(gate.baseline.read_text().replace('"version": 1', '"version": 7'))
    gate.refuse(BAD_INPUT, "newer msleaks (version 7", run, "--baseline", newer)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    gate = Gate(Msleaks(build, llvm), scratch)
    run = gate.record("first")
    gate.expect(PASSED, "a first run", run, "--save", gate.baseline)
    expect_equal_peaks(gate, run)
    expect_limits(gate, run)
    expect_edited(gate, run)
    expect_worse(gate, run)
    expect_incomplete(gate, run)
    expect_saved(gate, run)
    expect_refused(gate, run)


main()
