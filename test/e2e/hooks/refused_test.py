#!/usr/bin/env python3
"""Tests calls that a driver refuses. If a free fails, the block must still be alive. A failed launch or copy must be marked as failed
exactly once. The calls are recorded by hooks alone, by instrumented code alone, and by both.
   usage: refused_test.py BUILD SCRATCH
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, expect_same, need, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
REFUSED = [1001, 1003, 1009]


def compile(*command):
    done = run(command)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}")


def events_of(msleaks, folder, kind):
    return [json.loads(line) for line in msleaks.output("dump", folder, "--json", "--kind", kind).splitlines()]


def expect(msleaks, scratch, name, program, options, alive):
    folder = f"{scratch}/{name}.run"
    plain = run([program])
    check(plain.returncode == 0 and plain.stdout == "7 refused\n", f"the program does not run: {plain}")
    done, report = msleaks.run(folder, [program], options)
    expect_same(plain, done)
    report.expect_account()
    found = sorted(row["bytes"] // row["count"] for row in report.alive() if row["heap"] == "device")
    sizes = sum(row["bytes"] for row in report.alive() if row["heap"] == "device")
    check(sizes == sum(alive), f"{name}: {sizes} bytes are alive, not those of {alive}: {found}")
    failed = [event["status"] for event in events_of(msleaks, folder, "failed")]
    check(failed == [11, 98], f"{name}: failed with {failed}")
    back = [event for event in events_of(msleaks, folder, "alloc") if "restored" in event["flags"]]
    check(len(back) == len(alive) + 2, f"{name}: {len(back)} frees came back")
    print(f"{name}: {sizes} bytes alive, {len(back)} frees refused, {failed}")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    library, hooks = f"{scratch}/librefusing.so", f"{scratch}/hooks.so"
    compile(need("gcc"), "-shared", "-fPIC", PROGRAMS / "refusing.c", "-o", library)
    compile(need("g++"), "-std=c++20", "-Wall", "-Wextra", "-shared", "-fPIC", f"-I{REPOSITORY}/runtime/include",
            PROGRAMS / "refusing_hooks.cpp", "-o", hooks)
    compile(need("gcc"), "-c", PROGRAMS / "refusing.c", "-o", f"{scratch}/refusing.o")
    link = [library, f"-Wl,-rpath,{scratch}"]
    compile(need("gcc"), "-g", "-O1", PROGRAMS / "refused.c", "-o", f"{scratch}/plain", *link)
    expect(Msleaks(build), scratch, "hooks alone", f"{scratch}/plain", ["--hooks", hooks], REFUSED)
    for llvm in "19", "22":
        msleaks = Msleaks(build, llvm)
        for level in "-O0", "-O2":
            program = f"{scratch}/refused{llvm}{level}"
            msleaks.compile(PROGRAMS / "refused.c", program, *link, flags=(level,))
            # Hooks cannot see calls of a statically linked driver. Instrumented code cannot read the status of a call that must stay a
            # tail call. So the refused free of the block of 1003 bytes is recorded as a free.
            msleaks.compile(PROGRAMS / "refused.c", f"{program}-static", f"{scratch}/refusing.o", flags=(level,))
            expect(msleaks, scratch, f"callbacks alone, {llvm} {level}", f"{program}-static", [], [1001, 1009])
            expect(msleaks, scratch, f"both, {llvm} {level}", program, ["--hooks", hooks], REFUSED)


if __name__ == "__main__":
    main()
