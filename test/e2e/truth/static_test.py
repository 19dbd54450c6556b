#!/usr/bin/env python3
"""Tests a static executable that contains the whole archive of msleaks' runtime. The report must have the program's leak. The program
behaves as without msleaks.

    static_test.py BUILD SCRATCH OPTIMISATION
"""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, line_of, run, skip  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "static" / "main.c"


def main():
    build, scratch, optimisation = arguments("build", "scratch", "optimisation")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    probe = ["cc", "-static", "-x", "c", "-", "-o", f"{scratch}/probe"]
    if subprocess.run(probe, input=b"int main(void){return 0;}", stderr=subprocess.DEVNULL).returncode != 0:
        skip("no static libc on this machine")
    whole = ["-Wl,--whole-archive", "-lmsleaks_rt", "-Wl,--no-whole-archive"]
    msleaks.compile(SOURCE, f"{scratch}/main", "-static", f"-L{build}/lib", *whole, flags=[f"-{optimisation}"])
    watched, report = msleaks.run(f"{scratch}/run", [f"{scratch}/main"], ["--no-report"])
    expect_same(run([f"{scratch}/main"]), watched, stderr=True)
    report.expect_account()
    report.expect_sums()
    report.expect_site("leaks", "main.c", line=line_of(SOURCE, "make(777)"), function="main", count=1, bytes=777)
    check(report.json["leaks"]["bytes"] == 777, f"it leaks 777 bytes, not {report.json['leaks']['bytes']}")


if __name__ == "__main__":
    main()
