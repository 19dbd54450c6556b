#!/usr/bin/env python3
"""Tests that a block that a greenlet allocates has the lines of this greenlet, and not of the one that runs before it.
   usage: greenlets_test.py BUILD SCRATCH PYTHON
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, equal, expect_same, line_of, need_modules, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/greenlets.py"
ROUNDS = 50


def lines_of(site):
    """Returns the lines of PROGRAM in the path of a place, innermost first."""
    paths = {tuple(frame["line"] for frame in path["frames"] if frame["file"] == str(PROGRAM)) for path in site["paths"]}
    equal("paths of a place", len(paths), 1)
    return paths.pop()


def main():
    build, scratch, python = arguments("build", "scratch", "python")
    need_modules(python, "greenlet")
    command = [python, "-B", PROGRAM]
    done, report = Msleaks(build).run(f"{scratch}/run", command, ["--no-report"])
    expect_same(run(command), done)
    report.expect_account()
    of_first, of_second = line_of(PROGRAM, "block of the first"), line_of(PROGRAM, "block of the second")
    found = {site["site"]["line"]: site for site in report.json["peak"]["by_site"] if site["site"]["file"] == str(PROGRAM)}
    equal("blocks of the first", found[of_first]["count"], ROUNDS)
    equal("blocks of the second", found[of_second]["count"], ROUNDS)
    equal("lines of the first", lines_of(found[of_first]), (of_first, line_of(PROGRAM, "call of the first")))
    equal("lines of the second", lines_of(found[of_second]), (of_second,))
    print(f"{ROUNDS} blocks in each of two greenlets")


if __name__ == "__main__":
    main()
