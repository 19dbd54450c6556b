#!/usr/bin/env python3
"""Tests a report on a machine that does not have the recorded program. The trace contains the names of the program's calls, so the
report must be the same.

    elsewhere_test.py BUILD SCRATCH
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, plain_compiler, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, instrumented in (("containers.cpp", True), ("containers.cpp", False), ("exceptions.cpp", False), ("in_libc.c", False)):
        program = f"{scratch}/{Path(name).stem}"
        if instrumented:
            msleaks.compile(PROGRAMS / name, program, flags=["-O2"])
        else:
            made = run([plain_compiler(name), "-O2", "-g", PROGRAMS / name, "-o", program, "-pthread"])
            check(made.returncode == 0, made.stderr)
        _, report = msleaks.run(f"{scratch}/run", [program], ["--no-report"])
        leaks = report.sites("leaks")
        lines = [row for row in leaks if (row["site"]["file"] or "").endswith(name) and row["site"]["line"]]
        check(lines, f"no line of {name} in {leaks}")
        os.unlink(program)
        elsewhere = json.loads(msleaks.output("report", f"{scratch}/run", "--json"))
        check(elsewhere == report.json, f"{name}: another report without the program:\n{report.json}\n{elsewhere}")
        print(f"{name}, {'instrumented' if instrumented else 'not instrumented'}: {len(lines)} lines, named without the program")


if __name__ == "__main__":
    main()
