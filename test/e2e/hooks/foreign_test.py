#!/usr/bin/env python3
"""Tests a hook library that a user builds outside of the source tree and loads by `msleaks-run --hooks`. The program opens the
hooked library at run time. The program finds the library's functions by dlsym, by cuGetProcAddress or as global symbols. The hooks
must record the calls in each of these cases.

    foreign_test.py BUILD SCRATCH [INCLUDE_FOLDER]
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, expect_same, need, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"


def build(scratch, include):
    def compile(*command):
        done = run(command)
        check(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}")

    shared = ["-shared", "-fPIC", f"-I{include}"]
    compile(need("gcc"), "-shared", "-fPIC", PROGRAMS / "standin.c", "-o", f"{scratch}/libcuda.so.1")
    compile(need("gcc"), PROGRAMS / "host.c", "-o", f"{scratch}/host")
    for name in "mine", "too_new":
        compile(need("g++"), "-std=c++20", "-Wall", "-Wextra", *shared, PROGRAMS / f"{name}.cpp", "-o", f"{scratch}/{name}.so")


def leaks_of(report):
    return sorted((row["heap"], row["bytes"], row["count"]) for row in report.sites("leaks") if row["bytes"] > 1000)


def main():
    prefix, scratch, *include = arguments("build", "scratch")
    include = sys.argv[3] if len(sys.argv) > 3 else REPOSITORY / "runtime/include"
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(prefix)
    build(scratch, include)
    for way in "dlsym", "proc_address", "global":
        command = [f"{scratch}/host", f"{scratch}/libcuda.so.1", way]
        plain = run(command)
        check(plain.returncode == 0 and plain.stdout.endswith("end\n"), f"the host does not run: {plain}")
        done, report = msleaks.run(f"{scratch}/{way}.run", command, ["--hooks", f"{scratch}/mine.so"])
        expect_same(plain, done)
        report.expect_account()
        device = [leak for leak in leaks_of(report) if leak[0] != "host"]
        check(device == [("device", 1001, 1), ("device", 1013, 1), ("mapping", 2 * 4096, 1), ("mapping", 3 * 4096, 1)], f"{way}: {device}")
        done, report = msleaks.run(f"{scratch}/{way}.without", command)
        expect_same(plain, done)

    done, report = msleaks.run(f"{scratch}/too_new.run", command, ["--hooks", f"{scratch}/too_new.so"])
    expect_same(plain, done)
    check("too_new.so: hooks for version 99" in done.stderr + str(report.json), f"the report does not say so: {done.stderr}")
    missing = run([msleaks.bin / "msleaks-run", "--hooks", f"{scratch}/nowhere.so", "--", "true"])
    check(missing.returncode == 2 and "nowhere.so" in missing.stderr, f"a missing library: {missing}")
    print("dlsym, cuGetProcAddress, symbol: each recorded; a later version is named")


if __name__ == "__main__":
    main()
