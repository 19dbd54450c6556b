#!/usr/bin/env python3
"""Calls each function of Ascend's runtime API (ACL) that allocates, copies, fills or frees memory, or launches a kernel. Also calls
the functions with the same names in the library below ACL. msleaks records each call as one event, on the chosen device.
   usage: cann_calls_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, ascend_layers, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, watched
from msleaks_e2e import arguments

SOURCE = PROGRAMS / "cann_calls.c"


def in_order(event):
    """Returns the event's bytes, and whether the call had a stream as parameter."""
    return event["size"], "async" in event["flags"]


def expect_events(msleaks, run, calls):
    """Checks the recorded events. `calls` contains, for each library that the program calls, the device and the size of the first
    block."""
    expect_allocations(msleaks, run, [(heap, 0 if heap == "pinned" else device, first + more) for device, first in calls
                                      for more, heap in enumerate(["device"] * 4 + ["pinned"])])
    equal("fills", [in_order(event) for event in events_of(msleaks, run, "set")], [call for _, first in calls for call in ((first - 1, False), (first - 2, True))])
    equal("copies", [in_order(event) for event in events_of(msleaks, run, "copy")], [(first - less, less % 2 == 0) for _, first in calls for less in (3, 4, 5, 6, 7, 9, 8, 10)])
    launches = [event["grid_x"] for event in events_of(msleaks, run, "launch")]
    equal("launches", launches, [first + 1 + number for _, first in calls for number in range(4)])
    freed = [event["heap"] for event in events_of(msleaks, run, "free") if event["heap"] in ("device", "pinned")]
    equal("freed", freed, (["device"] * 4 + ["pinned"]) * len(calls))
    equal("marks", [event["label"] for event in events_of(msleaks, run, "mark")], ["aclInit", "aclFinalize"])
    expect_counts(msleaks, run, failed=0)


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    for kind, libraries_of, calls in ("face", ascend, [(1, 1000)]), ("layers", ascend_layers, [(1, 1000), (0, 2000)]):
        folder = f"{scratch}/{kind}"
        os.makedirs(folder, exist_ok=True)
        for name, program in build_programs(build, folder, SOURCE, f"-I{STANDINS}/cann", *libraries_of(folder)).items():
            run, report = watched(msleaks, folder, program, kind)
            expect_events(msleaks, run, calls)
            equal(f"{name}: leaks", device_leaks(report), [])
    print("ok")


if __name__ == "__main__":
    main()
