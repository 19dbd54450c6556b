#!/usr/bin/env python3
"""Tests the ledger, the report's table of the parts of a program's memory. Checks each line. The sum of the lines must equal the
kernel's number of resident bytes.
   usage: ledger_test.py BUILD SCRATCH LLVM
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "reserves.c"
MIB = 1 << 20


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    program = f"{scratch}/reserves"
    msleaks.compile(PROGRAM, program, flags=("-O0",))
    done, report = msleaks.run(f"{scratch}/run", [program])
    equal("output", done.stdout, "3\n")
    ledger = {line["source"]: line for line in report.json["ledger"] if line["device"] is None}
    at_peak = {source: line["at_peak_bytes"] for source, line in ledger.items()}
    at_end = {source: line["bytes"] for source, line in ledger.items()}
    equal("sum at the peak", sum(at_peak.values()), report.json["peak"]["resident_bytes"])
    equal("pool at the peak", (at_peak["pool-used"], at_peak["pool-free"]), (7 * MIB, 9 * MIB))
    equal("pool at the end", (at_end["pool-used"], at_end["pool-free"]), (5 * MIB, 11 * MIB))
    check(132 * MIB <= at_peak["blocks"] < 133 * MIB, f"blocks at the peak: {at_peak}")
    check(32 * MIB <= at_end["blocks"] < 33 * MIB, f"blocks at the end: {at_end}")
    check(3 * 4096 <= at_peak["allocator"] < 64 * 1024, f"malloc's own at the peak: {at_peak}")
    check(0 < at_peak["file-backed"] < 16 * MIB, f"images: {at_peak}")
    check(0 < at_peak["recorder"] < 16 * MIB, f"msleaks' own: {at_peak}")
    # The program touches only one page of its last block, of 100 MiB. The line `not-resident` also contains, with the opposite sign,
    # resident memory without an event, such as stacks and free memory of malloc.
    check(-100 * MIB < at_peak["not-resident"] < -97 * MIB, f"not touched: {at_peak}")
    text = msleaks.output("report", f"{scratch}/run", "--all")
    check("Ledger: what the memory is made of" in text and "pool-free" in text, f"no table:\n{text}")


main()
