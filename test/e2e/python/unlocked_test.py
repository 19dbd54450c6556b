"""Tests a Python without the global lock: threads that run at the same time allocate, grow, pass on and free objects. The report has
each large object once, with its line and its size. It does not have the mappings of Python's allocator as blocks.

    unlocked_test.py BUILD SCRATCH PYTHON
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from embedded import has_global_lock
from msleaks_e2e import Msleaks, Report, check, equal, line_of, need, run, skip

build, scratch, python = sys.argv[1:4]
need(python)
if has_global_lock(python):
    skip("this Python has a global lock")
Path(scratch).mkdir(parents=True, exist_ok=True)
msleaks = Msleaks(build)
program = Path(__file__).parent / "programs" / "unlocked.py"
environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3] / "tools/python")}
done, report = msleaks.run(Path(scratch) / "run", [python, program], env=environment)
plain = run([python, program], env=environment)
equal("output", (done.returncode, done.stdout), (0, plain.stdout))
report.expect_account()
truth = json.loads(done.stdout)
rows = Report(json.loads(msleaks.output("report", Path(scratch) / "run", "--at", "mark:kept", "--json"))).sites("peak")
for comment, (blocks, least_bytes) in truth.items():
    line = line_of(program, f"# {comment}")
    found = [row for row in rows if (row["site"].get("file") or "").endswith(program.name) and row["site"]["line"] == line]
    count, total = sum(row["count"] for row in found), sum(row["bytes"] for row in found)
    equal(f"{comment}: blocks", count, blocks)
    check(least_bytes <= total <= least_bytes * 1.02, f"{comment}: {total} bytes, of at least {least_bytes}")
peak = report.peak_bytes
check(peak < 2 * sum(size for _, size in truth.values()), f"a peak of {peak} bytes")
