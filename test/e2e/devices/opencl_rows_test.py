#!/usr/bin/env python3
"""Calls each OpenCL function that has a row in msleaks' table of functions (functions/opencl.def), on the driver PoCL. Compares all events
with a golden file, once with hooks alone and once with hooks and plugin. Also tests shared memory that a queue frees, with PoCL and with a
driver that does not allocate shared memory by malloc.
   usage: opencl_rows_test.py BUILD SCRATCH
"""
import os
import re

from device_run import PROGRAMS, Msleaks, build_programs, check, device_leaks, equal, expect_golden, opencl_behind, run, watched
from msleaks_e2e import REPOSITORY, SKIPPED, arguments, line_of, skip

SOURCE, SHARED = PROGRAMS / "opencl_rows.c", PROGRAMS / "opencl_shared.c"
TABLE = REPOSITORY / "docs/reference/symbols.md"
IMAGES = ["clCreateImage", "clCreateImageWithProperties", "clCreateImage2D", "clCreateImage3D"]  # these have no rows in the table
LISTED = 3


def expect_all_rows():
    rows = re.findall(r"^\| `(cl\w+)` \| \w+ \| opencl \|", TABLE.read_text(), re.MULTILINE)
    called = set(re.findall(r"\b(cl[A-Z]\w+)\(", SOURCE.read_text()))
    check(rows, f"{TABLE}: no rows of OpenCL")
    equal("functions that the program does not call", sorted({*rows, *IMAGES, "clEnqueueSVMFree"} - called), [])


def expect_rows(msleaks, scratch, name, program):
    if run([program]).returncode == SKIPPED:
        skip("no OpenCL device; pocl-opencl-icd brings one")
    folder, report = watched(msleaks, scratch, program)
    expect_golden(msleaks, folder, "opencl")
    equal(f"{name}: leaks", device_leaks(report), [])
    equal(f"{name}: frees of nothing", report.json["blocks"]["unmatched_frees"], 0)


def expect_shared(msleaks, scratch, name, program):
    """Checks which blocks leak. If a call of clEnqueueSVMFree fails, all blocks of its list leak. If a call has a callback, the callback
    frees the blocks, and the one block that it forgets leaks."""
    _, report = watched(msleaks, scratch, program)
    equal(f"{name}: leaks", sorted(device_leaks(report)), [("managed", 0, 1, 4 * 4096, line_of(SHARED, "// by a function")),
                                                            ("managed", 0, LISTED, LISTED * 2 * 4096, line_of(SHARED, "// refused"))])
    equal(f"{name}: frees of nothing", report.json["blocks"]["unmatched_frees"], 0)


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    expect_all_rows()
    for expect, source, library in (expect_rows, SOURCE, "more_opencl"), (expect_shared, SHARED, "shared_opencl"):
        folder = f"{scratch}/{source.stem}"
        os.makedirs(folder, exist_ok=True)
        for name, program in build_programs(build, folder, source, *opencl_behind(folder, library)).items():
            expect(msleaks, folder, name, program)
            print(f"{source.stem}, {name}")


if __name__ == "__main__":
    main()
