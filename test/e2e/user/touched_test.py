#!/usr/bin/env python3
"""Tests findings about host blocks that are never touched, touched late, or touched only in part. msleaks finds these blocks
in the page tables, which it reads by default. The test runs an instrumented program, and a program without instrumentation.
   usage: touched_test.py BUILD SCRATCH LLVM
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "touched.c"
KINDS = ("unused", "early-allocation", "overallocated")
MIB = 1 << 20


def wastes(report):
    found = [finding for finding in report.json["findings"] if finding["kind"] in KINDS]
    return {(finding["kind"], finding["site"]["line"]): finding for finding in found}


def expect(finding, confidence, saves, touched):
    equal("saves_bytes", finding["saves_bytes"], saves)
    equal("confidence", finding["confidence"], confidence)
    check(abs(finding["evidence"]["touched_bytes"] - touched) <= 8192, f"touched: {finding['evidence']}")


def seen(msleaks, scratch, program, how, options):
    _, report = msleaks.run(f"{scratch}/run", [program], options)
    found = wastes(report)
    never, half, waits, late = (line_of(PROGRAM, text) for text in ("// never touched", "// half of it", "// waits", "// filled late"))
    equal(f"{how}: findings", set(found),
          {("unused", never), ("overallocated", half), ("early-allocation", waits), ("early-allocation", late)})
    expect(found["unused", never], "proved", 8 * MIB, 0)
    # The savings are less than the block's size, since kept[5] is alive at the lower peak that would remain.
    expect(found["early-allocation", waits], "proved", 8 * MIB - 100 * 1000, 8 * MIB)
    rest = found["overallocated", half]
    check(8 * MIB - 8192 <= rest["saves_bytes"] <= 8 * MIB, f"half: {rest['saves_bytes']}")
    check(report.json["session"]["complete"], f"not complete: {report.json['notes']}")


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    program, plain = f"{scratch}/touched", f"{scratch}/plain"
    msleaks.compile(PROGRAM, program, flags=("-O0",))
    run([f"clang-{llvm}", "-g", "-O0", PROGRAM, "-o", plain]).check_returncode()
    seen(msleaks, scratch, program, "not asked", [])
    seen(msleaks, scratch, program, "asked", ["--access", "pages"])
    seen(msleaks, scratch, program, "from 4 MiB on", ["--access", f"pages:{4 * MIB}", "--reach", "off"])
    seen(msleaks, scratch, plain, "without the plugin", [])
    _, report = msleaks.run(f"{scratch}/run", [program], ["--access", "calls"])
    equal("with --access calls", wastes(report), {})
    done = run([Path(build) / "bin" / "msleaks-run", "--access", "pages:12", "true"])
    equal("too small", (done.returncode, "12 is none of 16384.." in done.stderr), (2, True))


main()
