#!/usr/bin/env python3
"""Tests `msleaks compare --policy msmemscope` on runs of two versions of a program (programs/versions.c). The program launches
kernels on the stand-in of CANN. The new version has one more kernel in each step, and a larger block.
   usage: versions_test.py BUILD SCRATCH
"""
import csv
import os
import subprocess
from pathlib import Path

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, check, equal, watched
from msleaks_e2e import arguments

SOURCE = PROGRAMS / "versions.c"
KIB = 1 << 10


def compared(msleaks, scratch, base, other, level):
    """Compares two runs. Returns the exit status, and the rows of the file without its header."""
    folder = Path(scratch) / f"compared-{len(os.listdir(scratch))}"
    done = subprocess.run([msleaks.bin / "msleaks", "compare", base, other, "--policy", "msmemscope", "--level", level, "-o", folder],
                          capture_output=True, text=True)
    check(done.stderr == "", f"compare says {done.stderr}")
    [table] = folder.iterdir()
    check(done.stdout.startswith(f"{table}: "), f"compare prints {done.stdout}")
    with open(table, newline="") as file:
        return done.returncode, list(csv.reader(file))[2:]


def expect_same(msleaks, scratch, run, again):
    status, rows = compared(msleaks, scratch, run, again, "kernel")
    equal("launches", [row[1:3] for row in rows], [["matmul", "0"], ["relu", "0"]] * 4)
    check(all(row[3] == row[4] and row[5] == "0" for row in rows), f"a twin differs: {rows}")
    equal("exit status of twins", status, 0)


def expect_change(msleaks, scratch, old, new):
    """Each launch of `matmul` allocates a larger workspace, and each launch of `norm` is new."""
    status, rows = compared(msleaks, scratch, old, new, "kernel")
    equal("exit status", status, 1)
    workspace = ["KERNEL_LAUNCH", "matmul", "0", str(64 * KIB), str(96 * KIB), str(32 * KIB)]
    freed = ["KERNEL_LAUNCH", "relu", "0", str(-64 * KIB), str(-96 * KIB), str(-32 * KIB)]
    next_step, last = str(96 * KIB), str(-1024 * KIB)
    added = [["KERNEL_LAUNCH", "norm", "0", "N/A", size, size] for size in (next_step, next_step, next_step, last)]
    equal("rows", rows, [row for step in range(4) for row in (workspace, freed, added[step])])


def expect_ranges(msleaks, scratch, old, new):
    status, rows = compared(msleaks, scratch, old, new, "op")
    equal("exit status", status, 1)
    equal("ranges of the device", [row for row in rows if row[2] == "0"],
          [["OP_LAUNCH", "step", "0", str(64 * KIB), str(96 * KIB), str(32 * KIB)]] * 4)
    check(any(row[1:3] == ["step", "cpu"] for row in rows), f"no range is on the host: {rows}")


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    os.makedirs(scratch, exist_ok=True)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{STANDINS}/cann", "-rdynamic", *ascend(scratch), "-ldl").items():
        runs = [watched(msleaks, scratch, program, *words)[0] for words in (["old"], ["old", "again"], ["new"])]
        expect_same(msleaks, scratch, runs[0], runs[1])
        expect_change(msleaks, scratch, runs[0], runs[2])
        expect_ranges(msleaks, scratch, runs[0], runs[2])
        print(f"{name}: compared")


if __name__ == "__main__":
    main()
