#!/usr/bin/env python3
"""Tests the report of a program whose file was replaced by another build after the run. The trace contains the names of the program's
calls, so the report must be the same. If msleaks was killed before it wrote the names, the report has addresses and a note instead.
The report must not use the names of the other build.

    rebuilt_test.py BUILD SCRATCH
"""
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, need, run  # noqa: E402

SOURCE = """#include <stdio.h>
#include <stdlib.h>
void *volatile kept;
#ifdef OTHER
int filler(int number) { return printf("%d", number); }
#endif
__attribute__((noinline)) void NAME(void) { kept = malloc(4321); kept = NULL; }
int main(void) { NAME(); puts("ready"); fflush(stdout); getchar(); return 0; }
"""


def build(source, program, *options):
    Path(source).write_text(SOURCE)
    made = run([need("gcc"), "-O1", "-g", *options, source, "-o", program])
    check(made.returncode == 0, made.stderr)


def record(msleaks, folder, program, killed):
    """Records a run of the program. If `killed` is set, kills msleaks-run while the program runs."""
    shutil.rmtree(folder, ignore_errors=True)
    recorder = subprocess.Popen([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", program],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    check(recorder.stdout.readline() == "ready\n", "the program does not run")
    if killed:
        recorder.send_signal(signal.SIGKILL)
    recorder.stdin.close()
    recorder.stdout.read()  # returns when the program has ended
    recorder.wait()


def leak_of(report):
    leaks = [row for row in report["leaks"]["by_site"] if row["bytes"] == 4321]
    check(len(leaks) == 1, f"not one leak of 4321 bytes: {report['leaks']}")
    return leaks[0]


def names_in(leak):
    return {name for name in ("first_build", "second_build") if name in json.dumps(leak)}


def main():
    build_folder, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build_folder)
    program, folder = f"{scratch}/program", f"{scratch}/run"

    def report():
        return json.loads(msleaks.output("report", folder, "--json"))

    build(f"{scratch}/first.c", program, "-DNAME=first_build")
    record(msleaks, folder, program, killed=False)
    before = report()
    check(names_in(leak_of(before)) == {"first_build"}, f"no name: {leak_of(before)}")
    build(f"{scratch}/second.c", program, "-DNAME=second_build", "-DOTHER")
    check(report() == before, "another report behind another build")
    print("named as before behind another build")

    build(f"{scratch}/first.c", program, "-DNAME=first_build")
    record(msleaks, folder, program, killed=True)
    build(f"{scratch}/second.c", program, "-DNAME=second_build", "-DOTHER")
    recovered = run([msleaks.bin / "msleaks", "recover", folder])
    check(recovered.returncode == 0, f"recover: {recovered.stderr}")
    after = report()
    check(names_in(leak_of(after)) == set(), f"named by another build: {leak_of(after)}")
    check(any("changed since the run" in note for note in after["notes"]), f"no note: {after['notes']}")
    print("not named by another build")


if __name__ == "__main__":
    main()
