#!/usr/bin/env python3
"""Tests the recording of MSTX, Ascend's annotation API, with a stand-in of its header. A program reports steps, ranges, marks and
the parts of a framework's memory pool. msleaks records each part as a block that the framework owns. On a machine with CANN,
LD_PRELOAD must contain a library name that torch_npu and MindSpore look for.
   usage: mstx_test.py BUILD SCRATCH
"""
import os
import shutil

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, equal, events_of, expect_golden, watched
from msleaks_e2e import arguments, line_of, run

SOURCE = PROGRAMS / "mstx.c"
PART = 4096
POOLS = ["ptaWorkspace", "atb", "mindsporeMemPool"]  # the program's pools, except ptaCaching
RANGES = [*[("begin", "step start"), ("end", "step start")] * 2, ("begin", "forward"), ("begin", "gather"), ("begin", "backward"),
          ("end", "forward"), ("end", "gather"), ("end", "backward")]


def ranges_of(msleaks, folder):
    """Returns the beginnings and ends of ranges, each with the text of its range."""
    texts, found = {}, []
    for event in events_of(msleaks, folder, "range-begin,range-end"):
        if event["event"] == "RangeBegin":
            texts[event["id"]] = event["label"]
        found.append(("begin" if event["event"] == "RangeBegin" else "end", texts.get(event["id"])))
    return found


def parts_of(msleaks, folder):
    """Returns, for each part of a pool, the owner that is recorded before the part, and the part's size."""
    owner, found = None, []
    for event in events_of(msleaks, folder, "owner-push,owner-pop,alloc"):
        if event["event"] == "OwnerPush":
            owner = event["label"]
        elif event["event"] == "OwnerPop":
            owner = None
        elif event["heap"] == "pool":
            found.append((owner, event["size"]))
    return found


def expect_name(msleaks, scratch):
    command = [msleaks.bin / "msleaks-run", "--no-report", "-o", f"{scratch}/name", "--", "sh", "-c", "echo $LD_PRELOAD; ls -l $(echo $LD_PRELOAD | tr : ' ') >/dev/null"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND")}
    for environment, is_there in (plain, False), (dict(plain, ASCEND_HOME_PATH="/usr/local/Ascend"), True):
        shutil.rmtree(f"{scratch}/name", ignore_errors=True)
        done = run(command, env=environment)
        equal(f"libascend_kernel_hook.so in LD_PRELOAD {done.stdout} {done.stderr}", (done.stdout.strip().endswith("/libascend_kernel_hook.so"), done.returncode), (is_there, 0))


def expect_crowd(msleaks, scratch, program):
    """The program creates 35 domains, but msleaks distinguishes 32. The parts of the further domains have the owner "other domains",
    and a note names each further domain."""
    folder, report = watched(msleaks, scratch, program, "crowd")
    later = ["other domains"] * 3
    equal("owners in a crowd", [owner for owner, _ in parts_of(msleaks, folder)], [f"pool {i}" for i in range(1, 32)] + later + later[1:])
    notes = [note for note in report.json["notes"] if "MSTX" in note]
    equal("notes of a crowd", [note.split(", is one")[0] for note in notes], [f"MSTX: domain {i + 1}, pool {i}" for i in (32, 33, 34)])


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    folder = STANDINS / "cann"
    acl, driver, runtime = ascend(scratch)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{folder}", acl, driver, runtime, "-ldl").items():
        folder_of_run, report = watched(msleaks, scratch, program)
        expect_golden(msleaks, folder_of_run, "mstx")
        equal(f"{name}: steps", [event["number"] for event in events_of(msleaks, folder_of_run, "step")], [1, 2])
        equal(f"{name}: ranges", ranges_of(msleaks, folder_of_run), RANGES)
        equal(f"{name}: marks", [event["label"] for event in events_of(msleaks, folder_of_run, "mark")], ["aclInit"] + ["in a step"] * 2 + ["all reduce"])
        equal(f"{name}: parts of pools", parts_of(msleaks, folder_of_run), [("ptaCaching", PART)] * 3 + [(pool, PART) for pool in POOLS])
        equal(f"{name}: parts given back", len([event for event in events_of(msleaks, folder_of_run, "free") if event["heap"] == "pool"]), 2 + len(POOLS))
        left = [(line["bytes"], line["count"], line["site"]["line"]) for line in report.json["leaks"]["pool"]["by_site"]]
        equal(f"{name}: forgotten", left, [(PART, 1, line_of(SOURCE, "// handed out"))])
        print(f"{name}: {left}")
    expect_crowd(msleaks, scratch, f"{scratch}/plain")
    expect_name(msleaks, scratch)


if __name__ == "__main__":
    main()
