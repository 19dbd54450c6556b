#!/usr/bin/env python3
"""Tests allocators that the user describes by a rows file, an annotation or a compiler attribute. A block that the program does not
free is a leak. The report must have the leak's line, variable and type.
   usage: allocators_test.py BUILD SCRATCH LLVM
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, line_of, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
SOURCE = PROGRAMS / "allocators.c"
# (variable, type, text of the line, bytes) of each expected leak
LEAKS = [
    ("row", "double", "double *row = my_alloc", 80),
    ("card", "float", "my_get((void **)&card", 64),
    ("text", "char", "char *text = my_text", 33),
    ("pool", "short", "short *pool = poolGet", 24),
    ("other", "int", "int *other = cardGet", 48),
    ("named", "long", "long *named = xmalloc", 17),
]


def own(report):
    """Returns the blocks that the program's own lines allocated and nothing freed, including parts of pools."""
    rows = [*report.alive(), *report.json["leaks"]["pool"]["by_site"]]
    return [row for row in rows if (row["site"]["file"] or "").endswith(SOURCE.name)]


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    os.environ["MSLEAKS_PASS"] = f"rows={PROGRAMS / 'allocators.rows'}"
    for optimisation in ("-O0", "-O2"):
        program = f"{scratch}/allocators{optimisation}"
        msleaks.compile(SOURCE, program, flags=(optimisation,))
        watched, report = msleaks.run(f"{scratch}/freed", [program])
        expect_same(run([program]), watched)
        report.expect_account()
        check(not own(report), f"{optimisation}: all is given back, and these are said to be alive: {own(report)}")
        _, report = msleaks.run(f"{scratch}/kept", [program, "keep"])
        found = {(row["site"]["variable"], row["site"]["type"], row["site"]["line"], row["bytes"], row["count"]) for row in own(report)}
        wanted = {(variable, type_name, line_of(SOURCE, text), size, 1) for variable, type_name, text, size in LEAKS}
        check(found == wanted, f"{optimisation}: leaked {found}, expected {wanted}")
    print(f"{len(LEAKS)} allocators: nothing alive when freed, each named when not")


if __name__ == "__main__":
    main()
