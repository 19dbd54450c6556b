#!/usr/bin/env python3
"""Tests the hooks for Ascend's operator library ATB. A stand-in, built for each ABI of libstdc++, replaces ATB. The trace has a
range for each operator, with an access to each of the operator's tensors. The report names an output block that no operator uses,
and an operator that writes past its output block. ATB saves the same files with msleaks as without msleaks.
   usage: atb_test.py BUILD SCRATCH
"""
import os
import shutil

from device_run import (PROGRAMS, STANDINS, Msleaks, ascend, build_programs, compile, equal, events_of, expect_counts, expect_golden, standin, watched)
from msleaks_e2e import arguments, line_of, need, run

SOURCE = PROGRAMS / "atb.c"
STEPS, TENSOR, MANY = 3, 1 << 20, 70
NAMES = ["LinearOperation"] * STEPS + ["ManyOperation", "n" * 4096, "FailingOperation"]


def expect_operators(msleaks, folder):
    begins = [event["label"] for event in events_of(msleaks, folder, "range-begin")]
    equal("ranges", begins, NAMES)
    expect_counts(msleaks, folder, **{"range-end": len(NAMES), "launch": STEPS + 2, "failed": 0})
    listed = ["listed" in event["flags"] for event in events_of(msleaks, folder, "launch")]
    equal("launches whose memory is known", listed, [True] * (STEPS + 2))


def accesses(msleaks, folder):
    """Returns the numbers of reads and of writes of each block, in the order of allocation."""
    blocks = [event["address"] for event in events_of(msleaks, folder, "alloc") if event["heap"] == "device"]
    uses = events_of(msleaks, folder, "access")
    equal("bytes of accesses", {event["size"] for event in uses}, {TENSOR})
    equal("devices of accesses", {event["device"] for event in uses}, {1})
    return [tuple(sum(event["address"] == block and flag in event["flags"] for event in uses) for flag in ("read", "write")) for block in blocks]


def findings(report, kind):
    return [finding for finding in report.json["findings"] if finding["kind"] == kind]


def expect_all(msleaks, scratch, program, name):
    folder, report = watched(msleaks, scratch, program)
    expect_golden(msleaks, folder, "atb")
    expect_operators(msleaks, folder)
    inputs, outputs = STEPS + MANY // 2 + 2, STEPS + 3
    equal(f"{name}: accesses", accesses(msleaks, folder), [(inputs, 0), (0, outputs), (inputs, 0), (STEPS, STEPS), (0, 0)])
    unused = findings(report, "unused")
    equal(f"{name}: unused", [(finding["bytes"], finding["count"], finding["site"]["line"]) for finding in unused], [(TENSOR, 1, line_of(SOURCE, "// spare"))])
    equal(f"{name}: no watched block is trampled", report.json["watch"], [])
    equal(f"{name}: notes", [note for note in report.json["notes"] if "not known" in str(note)], [])


def expect_stray(msleaks, scratch, program, name):
    _, report = watched(msleaks, scratch, program, "stray")
    changes = [(change["name"], change["offset"], change["bytes"], change["step"], change["given"]) for change in report.json["watch"]]
    equal(f"{name}: trampled", changes, [("weights", 0, 16, 2, "no")])


def expect_saved(msleaks, scratch, program, name):
    folder, _ = watched(msleaks, scratch, program, "save")
    # ATB saves the tensors before and after each kernel. msleaks records an access for each saved tensor. The stand-in saves at most
    # 48 inputs of an operator.
    saved = 2 * (STEPS * 3 + 49 + 3)
    without = STEPS * 4 + MANY + 1 + 3 + 3
    equal(f"{name}: accesses of what is saved", len(events_of(msleaks, folder, "access")), saved + without)


def expect_strange(msleaks, scratch, program, name):
    folder, report = watched(msleaks, scratch, program, "strange")
    equal(f"{name}: ranges", [event["label"] for event in events_of(msleaks, folder, "range-begin")], ["StrangeOperation", *NAMES])
    expect_counts(msleaks, folder, access=0, launch=STEPS + 2)
    equal(f"{name}: notes", len([note for note in report.json["notes"] if "of an unknown version" in str(note)]), 1)
    equal(f"{name}: nothing is concluded", findings(report, "unused"), [])


def expect_missing(msleaks, scratch):
    program = f"{scratch}/missing"
    compile(need("gcc"), PROGRAMS / "atb_missing.c", "-o", program)
    shutil.rmtree(f"{scratch}/missing-run", ignore_errors=True)
    for hooks in [], [msleaks.bin / "msleaks-run", "--no-report", "-o", f"{scratch}/missing-run", "--"]:
        equal("without ATB", run([*hooks, program]).stdout, "not executed\n")


def main():
    build, scratch = arguments("build", "scratch")
    folder = STANDINS / "cann"
    msleaks = Msleaks(build)
    for abi in 0, 1:
        libraries = f"{scratch}/abi-{abi}"
        os.makedirs(libraries, exist_ok=True)
        acl, driver, runtime = ascend(libraries)
        atb = standin(libraries, "libatb.so", folder / "atb.cpp", link=[acl, f"-D_GLIBCXX_USE_CXX11_ABI={abi}"])
        for name, program in build_programs(build, libraries, SOURCE, f"-I{folder}", atb, acl, driver, runtime).items():
            for expect in expect_all, expect_stray, expect_saved, expect_strange:
                expect(msleaks, libraries, program, f"{name}, abi {abi}")
    expect_missing(msleaks, scratch)
    print("ok")


if __name__ == "__main__":
    main()
