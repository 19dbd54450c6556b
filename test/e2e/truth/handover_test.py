#!/usr/bin/env python3
"""Tests threads that free the blocks of other threads immediately. The report must have no leak, and no free without its
allocation.

    handover_test.py BUILD SCRATCH THREADS RUNS
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, run  # noqa: E402

PAIRS = 500_000


def main():
    build, scratch, threads, runs = arguments("build", "scratch", "threads", "runs")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    program = f"{scratch}/handover"
    msleaks.compile(Path(__file__).parent / "handover/main.c", program, "-pthread")
    early = 0
    for number in range(int(runs)):
        done, report = msleaks.run(f"{scratch}/run", [program, threads, str(PAIRS)], ["--no-report"])
        check(done.returncode == 0, f"run {number}: exit status {done.returncode}\n{done.stderr}")
        report.expect_account()
        blocks = report.json["blocks"]
        check(blocks["frees"] >= PAIRS, f"run {number}: {blocks}")
        for count in ("unmatched_frees", "implicit_frees", "late_frees"):
            check(blocks[count] == 0, f"run {number}: {blocks}")
        check(not [row for row in report.alive() if row["site"]["function"] == "allocate"], f"run {number}: false leaks")
        early += blocks["early_frees"]
    print(f"{runs} runs of {PAIRS} pairs on {threads} threads: {early} frees with a time before their allocation's")


if __name__ == "__main__":
    main()
