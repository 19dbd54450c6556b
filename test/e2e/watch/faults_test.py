#!/usr/bin/env python3
"""Tests a watch in rare situations, such as forks while msleaks reads a watched block, names of 8 KiB, or no memory for a copy. The
program must behave as without msleaks.
   usage: faults_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import Msleaks, build_programs, check, equal, watched  # noqa: E402
from msleaks_e2e import arguments  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/faults.c"


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE).items():
        _, report = watched(msleaks, scratch, program)
        names = {change["name"][:10] for change in report.json["watch"]}
        check("shared" in names and "n" * 10 in names, f"{name}: {names}")
        check(not names & {"nowhere", "beyond", "too large"}, f"{name}: {names}")
        notes = " ".join(report.json["notes"])
        equal(f"{name}: notes", ("no memory for its copy" in notes, "longer than 4096 bytes" in notes), (True, True))
        print(f"{name}: {sorted(names)}")


if __name__ == "__main__":
    main()
