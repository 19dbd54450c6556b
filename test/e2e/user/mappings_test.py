#!/usr/bin/env python3
"""Tests mappings that the program moves, keeps, or makes accessible by mprotect, and calls that the kernel refuses. At the end, the
report must have the same mappings with hooks alone as with hooks and plugin.
   usage: mappings_test.py BUILD SCRATCH LLVM
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, run  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs" / "mappings.c"
PAGE = 4096


def alive(report, program):
    """Returns the bytes and the number of the program's own mappings. With hooks alone, a site names the program but no line."""
    rows = [row for row in report.alive() if row.get("heap") == "mapping"
            and ((row["site"]["file"] or "").endswith(SOURCE.name) or os.path.basename(row["site"]["library"] or "") == os.path.basename(program))]
    return sum(row["bytes"] for row in rows), sum(row["count"] for row in rows)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    for switch, name in (("", "with callbacks"), ("off", "hooks alone")):
        os.environ["MSLEAKS_PASS"] = switch
        program = f"{scratch}/mappings{switch}"
        msleaks.compile(SOURCE, program, flags=("-O1",))
        watched, report = msleaks.run(f"{scratch}/run{switch}", [program])
        expect_same(run([program]), watched)
        check(watched.stdout == "6 refused, 1 mapped\n", f"another kernel than this test expects: {watched.stdout}")
        report.expect_account()
        found = alive(report, program)
        check(found == ((4 + 2 + 8 + 8 + 1 + 3) * PAGE, 6), f"{name}: alive are {found[0] // PAGE} pages in {found[1]} mappings: {report.alive()}")
        print(f"{name}: {found[0] // PAGE} pages in {found[1]} mappings")


if __name__ == "__main__":
    main()
