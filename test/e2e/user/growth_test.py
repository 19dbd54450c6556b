#!/usr/bin/env python3
"""Tests findings about memory that grows with each step of a program, for a program that ends and for a program that is killed.
   usage: growth_test.py BUILD SCRATCH LLVM
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, line_of  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
PROGRAM, ROUNDS = PROGRAMS / "epochs.c", PROGRAMS / "rounds.c"
RECORD, BATCH, NOTE = 3000, 50_000, 900
FORGOTTEN, BATCHES, CACHE, HISTORY = (line_of(PROGRAM, f"{text} = used(") for text in ("forgotten", "batches[number % kKeptBatches]", "cache[number]", "history[number]"))


def growing(msleaks, folder):
    """Returns {line: (kind, confidence, bytes per step, first step)} of all lines whose memory grows."""
    findings = json.loads(msleaks.output("report", folder, "--json"))["findings"]
    return {finding["site"]["line"]: (finding["kind"], finding["confidence"], finding["evidence"]["growth_bytes_per_step"],
                                      finding["evidence"]["first_step"])
            for finding in findings if "growth_bytes_per_step" in finding["evidence"]}


def check_rounds(msleaks, scratch):
    """Tests a program that reports no steps. If its rounds are regular, the report must have the growth of one line. Otherwise it must
    have no growth."""
    program = f"{scratch}/rounds"
    msleaks.compile(ROUNDS, program)
    kept, batch = line_of(ROUNDS, "// kept"), line_of(ROUNDS, "// the batch")
    for how in ("regular", "random", "collect"):
        for end in ("exit", "kill"):
            _, report = msleaks.run(f"{scratch}/rounds-{how}-{end}", [program, how, end])
            growths = [finding for finding in report.json["findings"] if finding["kind"] == "growth"]
            equal(f"what grows in {how} rounds, {end}", [(finding["site"]["line"], finding["confidence"]) for finding in growths], [(kept, "hint")] if how == "regular" else [])
            for evidence in (growth["evidence"] for growth in growths):
                check(evidence["period_found"].endswith((f"rounds.c:{batch}", f"rounds.c:{kept}")), f"period: {evidence}")
                equal("bytes a round", evidence["growth_bytes_per_step"], 700)
                check(evidence["period_rounds"] > 250 and evidence["steps"] > 250 and evidence["period_ns"] >= 200_000, f"period: {evidence}")


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    program = f"{scratch}/epochs"
    msleaks.compile(PROGRAM, program, f"-I{REPOSITORY / 'runtime' / 'include'}")
    for steps in (20, 900):  # the analyzer has fewer than 900 buckets for steps
        ended, killed = f"{scratch}/ended-{steps}", f"{scratch}/killed-{steps}"
        done, _ = msleaks.run(ended, [program, str(steps)])
        equal("output", done.stdout, f"{steps} steps\n")
        equal(f"what grows in {steps} steps", growing(msleaks, ended),
              {FORGOTTEN: ("leak", "proved", RECORD, 1), HISTORY: ("growth", "hint", NOTE, 1)})
        msleaks.run(killed, [program, str(steps), "kill"])
        equal(f"what grows in {steps} steps until the kill", growing(msleaks, killed),
              {FORGOTTEN: ("growth", "likely", RECORD, 1), HISTORY: ("growth", "likely", NOTE, 1)})
    done, _ = msleaks.run(f"{scratch}/short", [program, "5"])
    equal("what grows in 5 steps", growing(msleaks, f"{scratch}/short"), {})
    check_rounds(msleaks, scratch)


main()
