#!/usr/bin/env python3
"""Tests that msleaks answers the questions for which people use Ascend's tool msMemScope. The program (programs/scenarios.c) runs on
the stand-in of CANN. The topics are a leak in each step, two steps that differ, and a matrix that a loss function overwrites. Further
topics are owners of memory, blocks that are allocated too early or freed too late, and out of memory.
   usage: scenarios_test.py BUILD SCRATCH
"""
import json
import os
import subprocess

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, ascend_layers, build_programs, check, equal, events_of, expect_counts, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE = PROGRAMS / "scenarios.c"
KIB, MIB, STEPS, MATRIX = 1 << 10, 1 << 20, 6, 256 * 256 * 4


def findings(report, kind):
    return [finding for finding in report.json["findings"] if finding["kind"] == kind and (finding["site"]["file"] or "").endswith(SOURCE.name)]


def expect_leak(msleaks, folder, report):
    """Checks the leak. Each step leaks one part of the pool. The report shows the line that allocates this part, but not the part
    that is freed within the step."""
    [leak] = [finding for finding in findings(report, "leak") if finding["heap"] == "pool"]
    equal("the leak", (leak["count"], leak["bytes"], leak["site"]["line"]), (STEPS, STEPS * MIB, line_of(SOURCE, "// the pool")))
    callers = [frame["line"] for path in leak["paths"] for frame in path["frames"] if (frame["file"] or "").endswith(SOURCE.name)]
    check(line_of(SOURCE, "(size_t)step * kMib, kMib)") in callers, f"who asked for it: {callers}")
    check(line_of(SOURCE, "512 * kKib") not in callers, f"who gave it back: {callers}")
    return leak["bytes"]


def alive_in(msleaks, folder, step):
    """Returns {line: bytes} of the blocks that are alive at the peak of one step."""
    report = json.loads(msleaks.output("report", folder, "--json", "--from", f"step:{step}", "--to", f"step:{step + 1}"))
    return {row["site"]["line"]: row["bytes"] for row in report["peak"]["by_site"] if (row["site"]["file"] or "").endswith(SOURCE.name)}


def expect_compare(msleaks, folder, report):
    """Compares the blocks that are alive in step 5 with those in step 2."""
    before, after = alive_in(msleaks, folder, 2), alive_in(msleaks, folder, 5)
    differs = {line: after.get(line, 0) - before.get(line, 0) for line in before.keys() | after.keys() if after.get(line, 0) != before.get(line, 0)}
    equal("what differs", differs, {line_of(SOURCE, "// larger"): 2 * MIB, line_of(SOURCE, "// added"): 2 * MIB})
    return differs


def expect_watch(msleaks, folder, report):
    """In step 2 the loss kernel writes one row past its matrix, into a watched block. The host cannot read the block, so msleaks
    copies the block from the device. These copies must not be recorded as calls of the program."""
    expect_counts(msleaks, folder, copy=0, set=1, launch=3, failed=0)
    equal("where the matrix is", {event["heap"] for event in events_of(msleaks, folder, "content")}, {"device"})
    [change] = report.json["watch"]
    equal("who tramples", (change["name"], change["offset"], change["bytes"], change["step"], change["site"]["line"]),
          ("target", 0, 256 * 4, 2, line_of(SOURCE, "// the loss")))
    equal("the first finding", report.json["findings"][0]["kind"], "trampled")
    return change["bytes"]


def expect_decompose(msleaks, folder, report):
    """Checks the tree of owners, which must contain a module of the driver, the framework's pool, and owners that the program names."""
    [owners] = [section for section in report.json["sections"] if section["name"] == "owners"]
    most = {row[0]: row[3] for row in owners["rows"]}
    # The stand-in itself calls malloc, and the tree also counts the blocks of these calls. So an owner can have slightly more bytes.
    for owner, size in ("HCCL", 3 * MIB), ("ptaCaching", MIB), ("train", 2 * MIB), ("train@weights", 2 * MIB):
        check(size <= most.get(owner, 0) < size + KIB, f"{owner} has not {size} bytes: {most}")
    return list(most)


def expect_inefficient(msleaks, folder, report, kind, line):
    """Checks that the report has one finding of this kind, at this line, by msleaks' rules and by msMemScope's rules."""
    policy = json.loads(msleaks.output("report", folder, "--json", "--policy", "msmemscope"))
    for source in report.json, policy:
        found = [finding["site"]["line"] for finding in source["findings"] if finding["kind"] == kind and finding["heap"] == "device"]
        equal(kind, found, [line])
    return found


def expect_early(msleaks, folder, report):
    return expect_inefficient(msleaks, folder, report, "early-allocation", line_of(SOURCE, "// early"))


def expect_late(msleaks, folder, report):
    return expect_inefficient(msleaks, folder, report, "late-free", line_of(SOURCE, "// late"))


def expect_oom(msleaks, folder, report):
    """Checks `msleaks oom`, which lists the largest blocks that were alive when memory ran out. --top 3 limits the list to 3 blocks."""
    done = subprocess.run([msleaks.bin / "msleaks", "oom", folder, "--json", "--top", "3"], stdout=subprocess.PIPE, text=True)
    shown = json.loads(done.stdout)
    equal("refused", (shown["refused"]["bytes"], shown["refused"]["heap"], shown["refused"]["place"]["site"]["line"]),
          (8 * MIB, "device", line_of(SOURCE, "// refused")))
    equal("the largest", [(block["bytes"], block["site"]["line"]) for block in shown["largest"][:1]], [(20 * MIB, line_of(SOURCE, "// the largest"))])
    equal("so many", len(shown["largest"]), 3)
    return shown["refused"]["bytes"]


EXPECTATIONS = {"leak": expect_leak, "compare": expect_compare, "watch": expect_watch, "decompose": expect_decompose, "early": expect_early, "late": expect_late,
                "oom": expect_oom}


def expect_topics(msleaks, build, scratch, libraries, topics):
    """Runs the topics. `libraries` contains ACL and the libraries below ACL."""
    os.makedirs(scratch, exist_ok=True)
    atb = standin(scratch, "libatb.so", STANDINS / "cann/atb.cpp", link=[libraries[0]])
    for name, program in build_programs(build, scratch, SOURCE, f"-I{STANDINS}/cann", atb, *libraries, "-ldl").items():
        for topic in topics:
            run, report = watched(msleaks, scratch, program, topic)
            print(f"{name}, {topic}: {EXPECTATIONS[topic](msleaks, run, report)}")


def main():
    build, scratch = arguments("build", "scratch")
    os.environ["STANDIN_HIDDEN"] = "1"  # the host cannot read device memory, so a watch must call the library
    for layout, libraries_of, topics in ("face", ascend, EXPECTATIONS), ("layers", ascend_layers, ["watch"]):
        folder = f"{scratch}/{layout}"
        os.makedirs(folder, exist_ok=True)
        expect_topics(Msleaks(build), build, folder, libraries_of(folder), topics)


if __name__ == "__main__":
    main()
