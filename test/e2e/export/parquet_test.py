#!/usr/bin/env python3
"""Exports recorded runs as parquet. DuckDB must read the events of `msleaks dump --json`, and blocks whose sums are those of
`msleaks report --json`. Exits with 77 if Apache Arrow and DuckDB cannot be installed.

    parquet_test.py BUILD SCRATCH
"""
import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "devices")]
from device_run import events_of  # noqa: E402
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, line_of, run, skip  # noqa: E402
from recorded import SHOWN, record_cuda, record_marks  # noqa: E402

HERE = Path(__file__).resolve().parent
MANY = "kept = [bytearray(1000 + i % 7) for i in range(150_000)]; del kept[::2]"


def python_with_columns():
    done = run([HERE / "fetch_readers.sh", "columns"])
    if done.returncode == 77:
        skip(done.stderr.strip())
    check(done.returncode == 0, f"the readers cannot be installed: {done.stderr}")
    return done.stdout.strip()


class Export:
    """A run, its report, and what DuckDB says about its files."""

    def __init__(self, msleaks, python, folder):
        self.report = msleaks.report(folder).json
        self.folder = Path(f"{folder}.parquet")
        done = run([msleaks.bin / "msleaks", "export", folder, "--format", "parquet", "-o", self.folder],
                   env={**os.environ, "MSLEAKS_PYTHON": python})
        equal("status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
        equal("files", sorted(file.name for file in self.folder.iterdir()), ["blocks.parquet", "events.parquet"])
        asked = run([python, "-B", HERE / "parquet_side.py", self.folder, str(self.report["peak"]["time_ns"])])
        check(asked.returncode == 0, f"DuckDB: {asked.stderr}")
        self.read = json.loads(asked.stdout)
        self.expect_events(msleaks.output("dump", folder, "--json"))
        self.expect_blocks()

    def expect_events(self, dumped):
        keys = ("time_ns", "event", "pid", "tid", "heap", "device", "address", "size")
        wanted = [tuple(event.get(key) for key in keys) for event in map(json.loads, dumped.splitlines())]
        equal("events", Counter(map(tuple, self.read["events"])), Counter(wanted))
        times = [event[0] for event in self.read["events"]]
        equal("order of time", times, sorted(times))

    def expect_blocks(self):
        read, report = self.read, self.report
        leaks = [report["leaks"], report["leaks"]["suppressed"]]
        equal("bytes at the peak", read["peak"], report["peak"]["bytes"])
        wanted = [sum(part["bytes"] for part in leaks), sum(part["count"] for part in leaks)]
        equal("leaks", [number or 0 for number in read["leaks"]], wanted)
        rows = next((section["rows"] for section in report["sections"] if section["name"] == "allocations"), [])
        equal("allocated bytes and blocks", [sum(row[column] for row in read["allocated"]) for column in (1, 2)],
              [sum(row[column] for row in rows) for column in (1, 2)])
        count, different, first, last = read["numbers"]
        equal("numbers of blocks", (different, first, last), (count, 1, count))
        equal("bytes by Arrow", read["bytes"][1], read["bytes"][0])
        equal("order of the blocks", read["ends"], sorted(read["ends"]))
        equal("peak in the facts", read["facts"]["msleaks.peak_bytes"], str(report["peak"]["bytes"]))


def expect_devices(msleaks, python, scratch):
    folder, source = record_cuda(msleaks, scratch)
    read = Export(msleaks, python, folder).read
    launches = events_of(msleaks, folder, "launch")
    wanted = [[event[key] for key in ("name", "kernel", "stream", "grid_x", "block_x", "shared_bytes")] for event in launches]
    check(wanted, "the program launches nothing")
    equal("launches", read["launches"], wanted)
    place = f"{source}:{line_of(source, '// forgotten')}"
    forgotten = [row[1:3] for row in read["allocated"] if row[0] and row[0].startswith(place) and row[3] == "device"]
    equal("forgotten blocks", forgotten, [[4 * 4096, 4]])
    check(read["used"] > 0, "no block has uses")


def expect_hostile_names(msleaks, python, scratch):
    read = Export(msleaks, python, record_marks(msleaks, scratch)).read
    equal("names of marks", read["labels"], SHOWN)


def expect_row_groups(msleaks, python, scratch):
    msleaks.run(scratch / "many", [shutil.which("python3"), "-B", "-S", "-c", MANY], options=["--no-report"])
    read = Export(msleaks, python, scratch / "many").read
    check(min(read["row_groups"]) > 1, f"row groups of events and blocks: {read['row_groups']}")


def expect_refusals(msleaks, python, scratch):
    folder, kept, new = scratch / "marks-run", scratch / "kept", scratch / "new"
    kept.mkdir()
    (kept / "mine").write_text("mine")
    export = [msleaks.bin / "msleaks", "export", folder, "--format", "parquet"]
    for options in ["--at", "peak", "-o", new], ["--of", "leaks", "-o", new], ["--from", "1s", "-o", new], [], ["-o", kept]:
        done = run([*export, *options], env={**os.environ, "MSLEAKS_PYTHON": python})
        equal(f"status of {options}", (done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
    equal("the folder that existed", [file.name for file in kept.iterdir()], ["mine"])
    no_arrow = scratch / "no-arrow"
    no_arrow.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    no_arrow.chmod(0o755)
    for interpreter in no_arrow, scratch / "missing":
        done = run([*export, "-o", new], env={**os.environ, "MSLEAKS_PYTHON": str(interpreter)})
        equal(f"{interpreter}: status", (done.returncode, done.stdout, done.stderr.count("\n")), (4, "", 1))
        check("pyarrow" in done.stderr, done.stderr)
    limited = f"trap '' XFSZ; ulimit -f 0; exec {' '.join(map(str, export))} -o {scratch / 'full'}"
    done = run(["sh", "-c", limited], env={**os.environ, "MSLEAKS_PYTHON": python})
    equal(f"status on a full disk ({done.stderr})", (done.returncode, done.stderr.count("\n")), (4, 1))
    left = [file.name for file in scratch.iterdir() if file.name.startswith(".") or file.name in ("new", "full")]
    equal("folders that are left", left, [])


def main():
    build, scratch = arguments("build", "scratch")
    python = python_with_columns()
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    expect_devices(msleaks, python, scratch)
    expect_hostile_names(msleaks, python, scratch)
    expect_row_groups(msleaks, python, scratch)
    expect_refusals(msleaks, python, scratch)


if __name__ == "__main__":
    main()
