#!/usr/bin/env python3
"""Tests handles in programs that fork, exec, get signals, cancel threads or are killed. The program behaves as without msleaks, and
the report has exactly the handles that the program left open.
   usage: faults_test.py BUILD SCRATCH
"""
import os

from msleaks_handles import PROGRAMS, compiled, expect_handles, forgotten_in
from msleaks_e2e import Msleaks, arguments, equal, expect_same, line_of, run

SOURCE = PROGRAMS / "faults.c"


def lines_of(*functions):
    """Returns the handles that the given functions leave open. The caller adds the descriptors that the exit handler at_exit
    opens."""
    lines = SOURCE.read_text().splitlines()
    found, inside = {}, None
    for number, line in enumerate(lines, 1):
        if line.startswith(("static ", "int ")) and line.endswith("{"):
            inside = line.split("(")[0].split()[-1].lstrip("*")
        if inside in functions:
            found.update({key: count for key, count in forgotten_in(SOURCE).items() if key[0] == number})
    return found


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in compiled(build, scratch, SOURCE).items():
        for topic, functions, exits in [("forks", ["forks"], 2), ("vforks", ["vforks"], 1), ("execs", ["second"], 1), ("threads", ["pass_on"], 1),
                                        ("handlers", ["on_alarm", "waits"], 1), ("cancels", [], 1), ("many", [], 0), ("kills", ["kills"], 1)]:
            plain = run([program, topic])
            done, report = msleaks.run(f"{scratch}/{name}-{topic}", [program, topic])
            expect_same(plain, done)
            report.expect_account()
            expected = lines_of(*functions)
            if exits:
                expected[line_of(SOURCE, "  open(\"/dev/null\", O_RDONLY); // forgets descriptor 1", 1), "descriptor"] = exits
            if topic == "many":
                expect_many(report)
            else:
                expect_handles(report, SOURCE, expected)


def expect_many(report):
    """Checks the program that opens as many descriptors as the limit allows, 4050 of them at one line."""
    counts = sorted(row["count"] for row in report.json["handles"])
    equal("descriptors of the first line", counts[-1], 4050)
    equal("findings", [(row["kind"], row["count"]) for row in report.json["findings"]][:1], [("handles", 4050)])


if __name__ == "__main__":
    main()
