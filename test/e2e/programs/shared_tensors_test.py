#!/usr/bin/env python3
"""Tests that the shared memory of a tensor is a mapping with the user's line. The pages of a mapped file are no memory of the program, so
the file must not be in the peak.

    shared_tensors_test.py BUILD SCRATCH
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, expect_same, line_of, need_modules, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/shared_tensors.py"
PYTHON, SHARED, FILE = "/usr/bin/python3", 12 << 20, 8 << 20

build, scratch = arguments("build", "scratch")
need_modules(PYTHON, "torch")
Path(scratch).mkdir(parents=True, exist_ok=True)
command = [PYTHON, "-B", PROGRAM, f"{scratch}/weights"]
done, report = Msleaks(build).run(f"{scratch}/run", command, ["--no-report"])
expect_same(run(command), done)
report.expect_account()
sites = {site["site"]["line"]: site for site in report.json["peak"]["by_site"] if site["site"]["file"] == str(PROGRAM)}
shared = sites[line_of(PROGRAM, "# shared tensor")]
check(SHARED <= shared["bytes"] < 1.1 * SHARED, f"shared tensor: {shared['bytes']} B")
mapped = sites.get(line_of(PROGRAM, "# mapped weights"), {"bytes": 0})
check(mapped["bytes"] < FILE / 8, f"the mapped file: {mapped['bytes']} B")
mapping = [heap for heap in report.json["peak"]["by_heap"] if heap["heap"] == "mapping"]
equal("the shared tensor is a mapping", [heap["bytes"] >= SHARED for heap in mapping], [True])
print(f"shared {shared['bytes']} B, mapped file {mapped['bytes']} B")
