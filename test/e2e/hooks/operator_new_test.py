#!/usr/bin/env python3
"""Tests operator new and delete, including operators that a library or the program defines itself, and operators that throw. Each
free must match its allocation, and the report must name the code that called the operator.

    operator_new_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, need, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"


def compile_plain(source, output, *options):
    done = run([need("g++"), "-std=c++20", "-O2", PROGRAMS / source, "-o", output, *options])
    check(done.returncode == 0, done.stderr)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    library = f"{scratch}/libown_new.so"
    compile_plain("own_new.cpp", library, "-shared", "-fPIC")
    links = library, f"-Wl,-rpath,{scratch}"
    compile_plain("uses_new.cpp", f"{scratch}/plain", *links)
    msleaks.compile(PROGRAMS / "uses_new.cpp", f"{scratch}/instrumented", *links)
    for name in "plain", "instrumented":
        alone = run([f"{scratch}/{name}"])
        check(alone.stdout == "caught\n7\n", f"{name}: {alone}")
        done, report = msleaks.run(f"{scratch}/{name}.run", [f"{scratch}/{name}"])
        expect_same(alone, done)
        report.expect_account()
        check(not report.sites("leaks"), f"{name}: false leaks {report.sites('leaks')}")
        lines = msleaks.output("dump", f"{scratch}/{name}.run").splitlines()
        made = sum(" Alloc " in line and " size=4 " in f"{line} " for line in lines)
        check(made == 21, f"{name}: {made} of 21 operator new(4) are seen")

    compile_plain("partial_new.cpp", f"{scratch}/partial")
    alone = run([f"{scratch}/partial"])
    done, report = msleaks.run(f"{scratch}/partial.run", [f"{scratch}/partial"])
    expect_same(alone, done)
    check(alone.stdout == "3 1\n" and not report.sites("leaks"), f"a replaced operator new: {alone.stdout}")

    compile_plain("handler.cpp", f"{scratch}/handler")
    alone = run([f"{scratch}/handler"])
    done, report = msleaks.run(f"{scratch}/handler.run", [f"{scratch}/handler"])
    expect_same(alone, done)
    sizes = {row["bytes"]: row["site"] for row in report.sites("leaks")}
    check(70001 not in sizes, "what the handler gave back is not seen")
    check(70003 in sizes and sizes[70003]["library"].endswith("/handler"), f"named by another caller: {sizes}")
    print("matched, named by the caller, and free to throw")


if __name__ == "__main__":
    main()
