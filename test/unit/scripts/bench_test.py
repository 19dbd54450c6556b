#!/usr/bin/env python3
"""Tests that each part of bench/run.py runs and prints its rows. The values are not checked.

    bench_test.py BUILD
"""
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "bench/run.py"
ROWS = {
    "record": ["record, 1 thread, no reader / clock read", "record, 8 threads, live collector / clock read",
               "record, no reader: 8 threads / 1 thread"],
    "malloc": ["malloc+free, depth 0, CPU: under msleaks-run / plain", "malloc+free, depth 30, wall: under msleaks-run / plain"],
    "paths": ["M events: bytes / event without paths, and with", "M events, CPU: with paths / without",
              "calls of msleaks, which has debug information"],
    "compile": ["compile five files of ours: user time", "compile dense unit, 1 of it: text"],
    "trace": ["collector at 10 M events/s from two threads, worst of 1: dropped / produced", "trace of malloc+free: bytes / event"],
    "reading": ["read and analyzed, an event of 100,000: with read-ahead / on one thread", "is opened by its index: a GiB / goal",
                "free and alloc, never asked / asked for interior pointers"],
    "sessions": ["begun while it ran: program's end to ours / goal", "top beside 1 M events/s, 1,000 blocks alive, told by msleaks-run: share of a core / goal"],
    "reach": ["later end of program and report", "a process that ends at once, read / not read"],
    "profiles": ["200 functions: functions, profile functions --no-text / perf report", "clang: functions and instructions, profile code / perf annotate"],
    "kernels": ["kernel saxpy: full / without msleaks", "kernel reduce: not counted / without msleaks"],
    "devices": ["a hooked cudaMalloc or cudaFree, stopped: with / without", "a hooked halMemAlloc or halMemFree, stopped: with / without"],
    "compare": ["10,000 launches with 10 edits: time / goal", "10,000 launches with 10 edits: memory / goal",
                "msleaks compare, two dumps, 10,000 against 10,000 launches with 10 edits: CPU / goal"],
    "report": ["live blocks: wanted / reached", "report of 1 % of"],
}

# If perf is not allowed to record, the part `profiles` prints a message instead of its rows.
try:
    recorded = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-o", "-", "true"], stdin=subprocess.DEVNULL, capture_output=True)
    can_record = recorded.returncode == 0
except OSError:
    can_record = False
if not can_record:
    print("no rows of profiles are asked for: perf cannot record here")
    del ROWS["profiles"]

if not shutil.which("llvm-spirv-15"):
    print("no rows of kernels are asked for: there is no llvm-spirv-15, which translates them for PoCL")
    del ROWS["kernels"]

done = subprocess.run([sys.executable, "-B", SCRIPT, "--build", sys.argv[1], "--check", *ROWS], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, text=True)
if done.returncode != 0:
    sys.exit(f"exit status {done.returncode}: {done.stdout}{done.stderr}")
table = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("| ")]
for part, names in ROWS.items():
    for name in names:
        rows = [row for row in table if name in row[0]]
        if not rows or any(len(row) != 6 or not row[1] or not row[2] or float(row[3]) < 0 for row in rows):
            sys.exit(f"{part}: no figures for '{name}' in\n{done.stdout}")
print(f"{len(table) - 1} rows")
