#!/usr/bin/env python3
"""Checks the finding about freed memory that stays resident, and that a program that gives it back has none.

    resident_test.py BUILD SCRATCH PROGRAM

The program prints how many bytes malloc_trim(0) really gives back. The finding must name about as many, and the line with the comment
"guilty".
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, plain_compiler, run  # noqa: E402

TOLERANCE = 0.15
MODES = {"c": (["kept", "threads"], ["trimmed", "dropped"]), "py": (["kept"], ["trimmed"])}

build, scratch, program = arguments("build", "scratch", "program")
os.makedirs(scratch, exist_ok=True)
msleaks = Msleaks(build)
language = Path(program).suffix[1:]
command = [sys.executable, program]
if language == "c":
    command = [f"{scratch}/freed"]
    check(run([plain_compiler(program), "-g", "-O1", program, "-o", *command, "-pthread"]).returncode == 0, f"{program} does not compile")


def findings_of(mode):
    done, report = msleaks.run(f"{scratch}/{mode}", [*command, mode], ["--no-report"])
    equal(f"{mode}: exit status", done.returncode, 0)
    return int(done.stdout.split()[0]), [finding for finding in report.json["findings"] if finding["kind"] == "resident"]


def expect_named(mode):
    given_back, findings = findings_of(mode)
    equal(f"{mode}: findings {findings}", len(findings), 1)
    finding, evidence = findings[0], findings[0]["evidence"]
    equal(f"{mode}: line", finding["site"]["line"], line_of(program, "guilty"))
    check(abs(finding["bytes"] / given_back - 1) <= TOLERANCE, f"{mode}: {finding['bytes']} bytes instead of {given_back}: {evidence}")
    equal(f"{mode}: sum of the arenas", evidence["main_arena_bytes"] + evidence["other_arenas_bytes"], finding["bytes"])
    in_threads = evidence["other_arenas_bytes"] > evidence["main_arena_bytes"]
    equal(f"{mode}: memory of other arenas", in_threads, mode == "threads")
    equal(f"{mode}: advice about arenas", "MALLOC_ARENA_MAX" in finding["advice"], mode == "threads")
    check("malloc_trim(0)" in finding["advice"], finding["advice"])
    check(evidence["unused_resident_bytes"] >= finding["bytes"], f"{mode}: {evidence}")
    text = msleaks.output("report", f"{scratch}/{mode}")
    check("of freed memory resident, in" in text and "malloc_trim(0) would give back about" in text, text)


named, mended = MODES[language]
for mode in named:
    expect_named(mode)
for mode in mended:
    equal(f"{mode}: findings", findings_of(mode)[1], [])
