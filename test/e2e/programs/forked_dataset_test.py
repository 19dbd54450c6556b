#!/usr/bin/env python3
"""Runs forked_dataset.py. Two forked processes read a list of texts, and so copy its pages. The report must name the line that made the
texts, and about as many bytes as the kernel does. The mended program must have no such finding.

    forked_dataset_test.py BUILD SCRATCH
"""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/forked_dataset.py"
PYTHON = "/usr/bin/python3"
MIB = 1 << 20
LEAST_TEXTS = 1_500_000 * 56  # bytes of the texts, without the list

build, scratch = arguments("build", "scratch")
msleaks = Msleaks(build)


def recorded(mode, *options):
    done, report = msleaks.run(f"{scratch}/{mode}{''.join(options)}", [PYTHON, "-B", PROGRAM, mode, *options], ["--no-report"])
    equal(f"{mode} {options}: exit status ({done.stderr})", done.returncode, 0)
    report.expect_account()
    return report.json, [finding for finding in report.json["findings"] if finding["kind"] == "unshared"]


def expect_processes(mode, report):
    """All three processes have ended with 0. The kernel's numbers of each agree with each other."""
    processes = report["processes"]
    equal(f"{mode}: exit and fate", [(process["exit"], process["fate"]) for process in processes], [(0, "exited")] * 3)
    for process in processes:
        pss, private, shared = (process[key] for key in ("pss_bytes", "private_bytes", "shared_bytes"))
        check(None not in (pss, private, shared) and private <= pss <= private + shared, f"{mode}: {process}")
    return processes


def expect_named(mode, lists):
    """Together, the processes read and copy so many lists."""
    report, findings = recorded(mode)
    equal(f"{mode}: findings {findings}", len(findings), 1)
    finding, evidence = findings[0], findings[0]["evidence"]
    equal(f"{mode}: place", (finding["site"]["file"], finding["site"]["line"]), (str(PROGRAM), line_of(PROGRAM, "guilty")))
    equal(f"{mode}: processes", finding["count"], 2)
    check(lists * LEAST_TEXTS <= finding["bytes"] < lists * 1.5 * LEAST_TEXTS, f"{mode}: {finding['bytes']} bytes, {evidence}")
    check(evidence["place_bytes"] >= finding["bytes"] * 0.8, f"{mode}: {evidence}")
    check("numpy array" in finding["advice"] and "gc.freeze()" in finding["advice"], finding["advice"])
    workers = expect_processes(mode, report)[1:]
    equal(f"{mode}: names", sorted(text.split(" of ")[1] for text in evidence["processes"]),
          sorted(f"pid {worker['pid']} ({worker['name'] or 'python3'})" for worker in workers))
    private = sum(worker["private_bytes"] for worker in workers)
    check(finding["bytes"] <= private + 16 * MIB, f"{mode}: {finding['bytes']} bytes, but the kernel says {private}")
    text = msleaks.output("report", f"{scratch}/{mode}", "--all")
    check("2 processes copied about" in text and "Memory that processes share, by process" in text, text)


def expect_none(mode):
    report, findings = recorded(mode, "--fixed")
    equal(f"{mode}: findings of the mended program", findings, [])
    expect_processes(mode, report)


expect_named("process", 2)
expect_none("process")
if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0:
    expect_named("loader", 1)
