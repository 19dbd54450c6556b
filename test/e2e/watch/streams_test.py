#!/usr/bin/env python3
"""Tests that a watch waits only for the stream of the operation, not for a busy stream. The test runs with device memory that the
host can read, and with device memory that msleaks must copy. A note must say that the watch waits for each launch.
   usage: streams_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import STANDINS, Msleaks, build_programs, check, equal, events_of, expect_counts, run, standin, watched  # noqa: E402
from msleaks_e2e import arguments, line_of  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/streams.c"


def expect_watched(msleaks, scratch, program, name, heap):
    plain = run([program])
    equal("the other stream is busy", plain.stdout.count("the other stream is busy: 1"), 3)
    folder, report = watched(msleaks, scratch, program)
    equal(f"{name}: changes", [(change["name"], change["operator"], change["offset"], change["bytes"], change["site"]["line"]) for change in report.json["watch"]],
          [("weights", "kernel", 64, 16, line_of(SOURCE, "// launch"))])
    equal(f"{name}: where the block is", {event["heap"] for event in events_of(msleaks, folder, "content")}, {heap})
    expect_counts(msleaks, folder, copy=3, set=4, launch=4)
    waits = [note for note in report.json["notes"] if "waits for each launch" in note]
    check(len(waits) == 1 and waits[0].startswith("msl_watch"), f"{name}: {report.json['notes']}")
    print(f"{name}, {heap}: {waits[0]}")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks, cuda = Msleaks(build), STANDINS / "cuda"
    for name, program in build_programs(build, scratch, SOURCE, f"-I{cuda}", standin(scratch, "libcudart.so.12", cuda / "cudart.cpp")).items():
        for is_hidden, heap in ("0", "host"), ("1", "device"):
            os.environ["STANDIN_HIDDEN"] = is_hidden
            expect_watched(msleaks, scratch, program, name, heap)


if __name__ == "__main__":
    main()
