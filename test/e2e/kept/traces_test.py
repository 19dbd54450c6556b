#!/usr/bin/env python3
"""Reads runs that an earlier version recorded. Today's report of each run must equal the earlier version's report.
   usage: traces_test.py BUILD
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, Report, check  # noqa: E402

V1, PATHS = (Path(__file__).resolve().parent / "v1" / name for name in ("run", "paths"))
# (kind, size) of the expected events.
EVENTS = [("Alloc", 400), ("Alloc", 40), ("Free", 0), ("Alloc", 4000), ("Free", 0)]


class Reader(Msleaks):
    """Runs the tools that read a trace. These tools need no compiler plugin."""

    def __init__(self, prefix):
        self.bin = Path(prefix) / "bin"


def expect_paths_by_number(msleaks):
    """Checks a trace whose events name call paths by number (chunk kind 9). The trace is a run of the program calls.c, whose binary
    no longer exists."""
    rows = Report(json.loads(msleaks.output("report", PATHS, "--json"))).sites("leaks")
    calls = [(path["bytes"], path["complete"], [frame["offset"] for frame in path["frames"] if frame["library"] == "/src/calls"])
             for row in rows for path in row["paths"]]
    check(calls == [(100, True, [4418, 4442, 4471, 4209]), (11, True, [4418, 4486, 4209])], f"the paths are {calls}")


def main():
    msleaks = Reader(sys.argv[1])
    report = Report(json.loads(msleaks.output("report", V1, "--json")))
    report.expect_account()
    report.expect_sums()
    check(report.json["session"]["complete"], "not complete")
    check(report.peak_bytes == 4400, f"the peak is {report.peak_bytes} bytes")
    report.expect_site("leaks", "/src/grow.c", line=7, variable="grown", type="int", bytes=4000, count=1)
    check(report.json["processes"][0]["exit"] == 0, "the exit status")
    events = [json.loads(line) for line in msleaks.output("dump", V1, "--json").splitlines()]
    seen = [(event["event"], event["size"]) for event in events]
    check(seen == EVENTS, f"events {seen}, then it was {EVENTS}")
    check([event["flags"] for event in events][2] == ["realloc"], f"the realloc's flags: {events[2]['flags']}")
    check(events[0]["address"] == events[4]["address"] and all(event["heap"] == "host" for event in events), "addresses, heaps")
    expect_paths_by_number(msleaks)
    print("traces of the first version: read as they were then")


if __name__ == "__main__":
    main()
