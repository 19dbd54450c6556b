#!/usr/bin/env python3
"""Calls functions that Ascend's ACL has since CANN 8.3 (programs/cann_newer.c). Each of them is a row of the table of functions, or a
row with a body. msleaks records each call, on the device of the thread's context.
   usage: cann_newer_test.py BUILD SCRATCH
"""
import os
from collections import Counter

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, standin, watched
from msleaks_e2e import arguments, line_of

# {number of a kind in handles.def: how many the program opens}: streams, contexts, modules, graphs
KINDS = {7: 2, 9: 2, 10: 3, 11: 2}
SOURCE, CANN = PROGRAMS / "cann_newer.c", STANDINS / "cann"


def libraries(folder):
    driver, runtime = standin(folder, "libascend_hal.so", CANN / "driver.cpp"), standin(folder, "libruntime.so", CANN / "runtime.cpp")
    return [standin(folder, "libascendcl.so", CANN / "ascendcl.cpp", CANN / "ascendcl_newer.cpp", link=[driver, runtime]), driver, runtime]


def in_order(event):
    return event["size"], "async" in event["flags"]


def expect_events(msleaks, run):
    expect_allocations(msleaks, run, [("pinned", 0, 1001), ("device", 1, 1002), ("managed", 1, 1003), ("device", 1, 1004)])
    equal("fills", [in_order(event) for event in events_of(msleaks, run, "set")], [(4 * 201, False), (4 * 202, True)])
    copies = [(301, True), (302, False), (303, True), (304, False), (305, True), (306, False), (307, False), (308, True), (309, True)]
    equal("copies", [in_order(event) for event in events_of(msleaks, run, "copy")], copies)
    equal("launches", [(event["grid_x"], event["device"]) for event in events_of(msleaks, run, "launch")], [(401, 1)])
    # two copies with addresses that msleaks does not know, and two runs of a model
    blocks = {event["address"]: event["size"] for event in events_of(msleaks, run, "alloc")}
    used = [blocks.get(event["address"]) for event in events_of(msleaks, run, "access")]
    equal("used blocks", used, [None, 1004, 1002, 1002, 1002, None, None, None])
    freed = [event["heap"] for event in events_of(msleaks, run, "free") if event["heap"] in ("device", "pinned", "managed")]
    equal("freed", freed, ["pinned", "device", "device", "device"])
    imported = [(event["event"], event.get("size")) for event in events_of(msleaks, run, "alloc,free") if event["heap"] == "imported"]
    equal("imported", imported, [("Alloc", 2048), ("Free", 0), ("Alloc", 2048)])
    expect_counts(msleaks, run, failed=0)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{CANN}", *libraries(scratch)).items():
        run, report = watched(msleaks, scratch, program)
        expect_events(msleaks, run)
        equal(f"{name}: leaks", device_leaks(report), [])
        opened = Counter(event["kind"] for event in events_of(msleaks, run, "opened"))
        equal(f"{name}: opened", {kind: opened[kind] for kind in KINDS}, KINDS)
        left = [(handle["kind"], handle["count"], handle["site"]["line"]) for handle in report.json["handles"] if handle["kind"] != "descriptor"]
        equal(f"{name}: open handles", left, [("module", 1, line_of(SOURCE, "// is not unloaded"))])
    print("ok")


if __name__ == "__main__":
    main()
