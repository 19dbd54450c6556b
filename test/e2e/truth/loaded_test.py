#!/usr/bin/env python3
"""Tests allocations in libraries that are unloaded later, and in code that runs before main. The report must name file and line.

    loaded_test.py BUILD SCRATCH OPTIMISATION
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, line_of, run  # noqa: E402

SOURCES = Path(__file__).resolve().parent / "loaded"


def main():
    build, scratch, optimisation = arguments("build", "scratch", "optimisation")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    flags = [f"-{optimisation}"]
    for library in ("linked", "plugin"):
        msleaks.compile(SOURCES / f"{library}.c", f"{scratch}/lib{library}.so", "-shared", "-fPIC", flags=flags)
    msleaks.compile(SOURCES / "main.c", f"{scratch}/main", f"-L{scratch}", "-llinked", f"-Wl,-rpath,{scratch}", "-ldl", flags=flags)
    command = [f"{scratch}/main", f"{scratch}/libplugin.so"]
    watched, report = msleaks.run(f"{scratch}/run", command, ["--no-report"])
    expect_same(run(command), watched, stderr=True)
    report.expect_account()
    report.expect_sums()
    events = list(map(json.loads, msleaks.output("dump", f"{scratch}/run", "--json", "--kind", "alloc,alloc-failed").splitlines()))
    for file, text, function, size, count in [
        ("main.c", "malloc(1001)", "begin", 1001, 1),
        ("linked.c", "malloc(2002)", "load", 2002, 1),
        ("plugin.c", "malloc(3003)", "load", 3003, 2),
        ("main.c", "make(4004)", "main", 4004, 2),  # the line of the caller, since the library's make() is a wrapper
    ]:
        row = report.expect_site("leaks", file, line=line_of(SOURCES / file, text), function=function, count=count, bytes=count * size)
        ids = [event["site"] for event in events if event["event"] == "Alloc" and event["size"] == size]
        check(len(ids) == count and len(set(ids)) == 1, f"one site, {count} blocks: {ids}")
        if function != "main":  # for main, the event names make()'s call of malloc, but the report names make()'s caller
            check(ids[0] == row["site"]["id"], f"the dump has other ids: {ids}, {row}")
        print(f"{file}: {function}: {row['bytes']} bytes in {row['count']} blocks")


if __name__ == "__main__":
    main()
