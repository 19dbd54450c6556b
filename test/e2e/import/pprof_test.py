#!/usr/bin/env python3
"""Exports a run as pprof and imports it again. Imports a heap profile of a Go program, if Go is installed: the sums are those that
`go tool pprof` prints.

    pprof_test.py BUILD SCRATCH
"""
import re
import shutil
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from imported import export, record_kept  # noqa: E402
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, run  # noqa: E402

PROGRAM = """package main

import (
\t"os"
\t"runtime"
\t"runtime/pprof"
)

var kept [][]byte

func keep(blocks int) {
\tfor i := 0; i < blocks; i++ {
\t\tkept = append(kept, make([]byte, 100000+i))
\t}
}

func main() {
\truntime.MemProfileRate = 1
\tkeep(50)
\truntime.GC()
\tfile, _ := os.Create(os.Args[1])
\tpprof.WriteHeapProfile(file)
\tfile.Close()
\tos.Exit(len(kept) - 50)
}
"""


def sums(rows):
    return sum(row["bytes"] for row in rows), sum(row["count"] for row in rows)


def expect_own(msleaks, scratch):
    folder, recorded = record_kept(msleaks, scratch)
    for blocks in ("peak", "leaks", "allocated"):
        options = [] if blocks == "peak" else ["--of", blocks]
        imported = msleaks.report(export(msleaks, folder, "pprof", scratch / f"{blocks}.pb.gz", *options))
        if blocks == "allocated":
            total = recorded.rows("allocations")
            equal("bytes in all", sum(row[1] for row in imported.rows("allocations")), sum(row[1] for row in total))
            equal("blocks in all", sum(row[2] for row in imported.rows("allocations")), sum(row[2] for row in total))
            continue
        equal(f"bytes of {blocks}", imported.peak_bytes, recorded.json[blocks]["bytes"])
        equal(f"sums of {blocks}", sums(imported.sites("peak")), sums(recorded.sites(blocks)))
        places = [[(row["site"]["file"], row["site"]["line"], row["bytes"]) for row in report.sites(part) if row["own"]]
                  for report, part in ((imported, "peak"), (recorded, blocks))]
        equal(f"places of {blocks}", *places)


def expect_go(msleaks, scratch):
    go = shutil.which("go")
    if go is None:
        print("Go is not installed, so no profile of Go was read")
        return
    (scratch / "main.go").write_text(PROGRAM)
    (scratch / "go.mod").write_text("module kept\n")
    built = run([go, "build", "-o", "program", "."], cwd=scratch)
    if built.returncode != 0:
        print(f"Go does not build a program here, so no profile of Go was read: {built.stderr}")
        return
    profile = scratch / "heap.pb.gz"
    equal("status of the program", run([scratch / "program", profile]).returncode, 0)
    report = msleaks.report(profile)
    for index, found in (("inuse_space", report.peak_bytes), ("inuse_objects", sums(report.sites("peak"))[1])):
        printed = run([go, "tool", "pprof", "-raw", f"-sample_index={index}", profile]).stdout
        columns = re.search(r"^Samples:\n(.*)\n", printed, re.M).group(1).replace("[dflt]", "").split()
        at = [column.split("/")[0] for column in columns].index(index)
        rows = re.findall(r"^ *((?:\d+ +)+\d+): [\d ]+$", printed.split("Locations")[0], re.M)
        equal(f"{index} of go tool pprof", found, sum(int(row.split()[at]) for row in rows))
    report.expect_site("peak", "main.go", line=13, function="main.keep")
    check(report.json["session"]["source"] == "pprof", "another source")
    check(not report.json["leaks"]["bytes"], "what is alive is no leak: the program still ran")


def main():
    build, scratch = arguments("build", "scratch")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    expect_own(msleaks, scratch)
    expect_go(msleaks, scratch)


if __name__ == "__main__":
    main()
