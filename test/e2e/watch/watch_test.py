#!/usr/bin/env python3
"""Watched blocks (docs/watch.md): the report names the operator that changed one without being given it, where it is and which bytes; it names nobody
where all is well, and the program does what it does alone.   usage: watch_test.py BUILD SCRATCH host|opencl
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import Msleaks, build_programs, equal, run, watched  # noqa: E402
from msleaks_e2e import arguments, line_of, skip  # noqa: E402

SOURCES = Path(__file__).resolve().parent / "programs"


def changes(report):
    return [(change["name"], change["operator"], change["offset"], change["bytes"], change["step"], change["given"], change["site"]["line"])
            for change in report.json["watch"]]


def expected(topic, source):
    if topic == "host":
        return [("weights", "relu", 128, 16, 2, "unknown", line_of(source, "// tramples"))]
    return [("weights", "relu", 0, 32, 2, "no", line_of(source, "// launch"))]


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    msleaks, source = Msleaks(build), SOURCES / f"{topic}.c"
    for name, program in build_programs(build, scratch, source, *(["-lOpenCL"] if topic == "opencl" else [])).items():
        if run([program]).returncode == 77:
            skip("no OpenCL device; pocl-opencl-icd brings one")
        folder, report = watched(msleaks, scratch, program)
        wanted = expected(topic, source)
        equal(f"{name}: changes", changes(report), wanted)
        first = report.json["findings"][0]
        equal(f"{name}: the first finding", (first["kind"], first["evidence"]["block"], first["evidence"]["operation"], first["site"]["line"]),
              ("trampled", "weights", "relu", wanted[0][-1]))
        text = msleaks.output("report", folder)
        equal(f"{name}: in the text", "of weights changed, by relu" in text, True)
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: changes of the mended program", changes(report), [])
        print(f"{name}: {wanted}")


if __name__ == "__main__":
    main()
