#!/usr/bin/env python3
"""Links objects and archives that an earlier version's plugin instrumented, with each other and with objects of today's plugin. The
program behaves as without msleaks. The report names allocation sites of the old objects and of the new ones.
   usage: objects_test.py BUILD SCRATCH LLVM
"""
import os
import platform
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, run, skip  # noqa: E402

V1 = Path(__file__).resolve().parent / "v1"


def link(compiler, output, *inputs):
    command = [compiler, *map(str, inputs), "-o", output]
    check(subprocess.run(command).returncode == 0, f"does not link: {' '.join(command)}")
    return output


def expect_kept_report(report, what):
    report.expect_account()
    check(report.json["session"]["complete"], f"{what}: not complete")
    report.expect_site("leaks", "/src/grow.c", line=7, function="grow_kept", variable="grown", type="int", bytes=4000, count=1)
    report.expect_site("peak", "/src/pool.c", line=6, function="pool_weights", variable="weights", type="float", bytes=400, count=1)
    check(report.peak_bytes == 4400, f"{what}: the peak is {report.peak_bytes} bytes")


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    if platform.machine() != "x86_64":
        skip("the kept objects are of x86-64")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    compiler = msleaks.compiler("c")
    main_now = f"{scratch}/main.o"
    command = [compiler, "-O2", "-g", f"-fpass-plugin={msleaks.plugin}", "-c", V1 / "main.c", "-o", main_now]
    check(subprocess.run(command).returncode == 0, "main.c does not compile")
    # Today's plugin compiles this file, so the program has a new object beside the old ones.
    extra = Path(scratch) / "extra.c"
    extra.write_text("#include <stdlib.h>\n__attribute__((constructor)) static void run(void) { volatile char *p = malloc(10); p[0] = 1; free((void *)p); }\n")
    extra_now = f"{scratch}/extra.o"
    check(subprocess.run([compiler, "-O2", "-g", f"-fpass-plugin={msleaks.plugin}", "-c", extra, "-o", extra_now]).returncode == 0, "extra.c does not compile")
    for archive in sorted(V1.glob("*.a")):
        for name, inputs in {"old": [V1 / "main.o", archive], "mixed": [main_now, extra_now, archive]}.items():
            what = f"{name} with {archive.name}"
            program = link(compiler, f"{scratch}/{name}-{archive.stem}", *inputs)
            plain = run([program])
            check(plain.returncode == 0, f"{what}: exit status {plain.returncode} without a session")
            watched, report = msleaks.run(f"{scratch}/run", [program])
            expect_same(plain, watched)
            expect_kept_report(report, what)
            listed = msleaks.output("sites", program)
            for place in ["/src/grow.c", "/src/pool.c"] + (["extra.c"] if name == "mixed" else []):
                check(place in listed, f"{what}: msleaks sites does not name {place}")
    print("objects of the first version: armed, alone and beside today's")


if __name__ == "__main__":
    main()
