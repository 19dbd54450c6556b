#!/usr/bin/env python3
"""Tests watched blocks (docs/watch.md). The report must name the operator that changed a watched block which was not its argument, with
the operator's line and the changed bytes. For a correct program the report must name no operator. The program behaves as without msleaks.
   usage: watch_test.py BUILD SCRATCH cuda|hip|host|opencl
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import STANDINS, Msleaks, build_programs, equal, events_of, expect_counts, run, sources_for, standin, watched  # noqa: E402
from msleaks_e2e import arguments, line_of, skip  # noqa: E402

SOURCES = Path(__file__).resolve().parent / "programs"


def changes(report):
    return [(change["name"], change["operator"], change["offset"], change["bytes"], change["step"], change["given"], change["site"]["line"])
            for change in report.json["watch"]]


def expected(topic, source):
    if topic in ("cuda", "hip"):  # msleaks cannot read the arguments of a kernel, so `given` is "unknown"
        return [("weights", "relu", 64, 16, 2, "unknown", line_of(source, "// launch"))]
    if topic == "host":
        return [("weights", "relu", 128, 16, 2, "unknown", line_of(source, "// tramples"))]
    return [("weights", "relu", 0, 32, 2, "no", line_of(source, "// launch"))]


# The numbers of events that the program itself causes in three steps. If the host cannot read a watched block, msleaks copies the
# block, but must not record these copies.
OWN_CALLS = {"cuda": {"copy": 6, "set": 4, "launch": 3}, "opencl": {"set": 3, "launch": 6}}
OWN_CALLS["hip"] = OWN_CALLS["cuda"]
OPENCL_COPIES = 6  # while PoCL compiles a kernel, it also copies memory of its own: such a copy has the heap host


def built_with(topic, scratch):
    """Builds the stand-in. Returns the program's source and its build options."""
    if topic not in ("cuda", "hip"):
        return SOURCES / f"{topic}.c", ["-lOpenCL"] if topic == "opencl" else []
    os.environ["STANDIN_HIDDEN"] = "1"  # the host cannot read device memory, so a watch must call the library
    files = [*(STANDINS / "cuda" / name for name in ("cudart.cpp", "cuda_runtime_api.h")), STANDINS / "hip/amdhip.cpp"]
    folder = sources_for(topic, [("cuda", "hip")], scratch, SOURCES / "cuda.c", *files)
    sources = [folder / "cudart.cpp"] if topic == "cuda" else [folder / "cudart.cpp", folder / "amdhip.cpp"]
    library = standin(scratch, {"cuda": "libcudart.so.12", "hip": "libamdhip64.so.6"}[topic], *sources)
    return folder / "cuda.c", [f"-I{folder}", library, "-rdynamic"]  # the stand-in finds kernels by their exported names


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    source, options = built_with(topic, scratch)
    for name, program in build_programs(build, scratch, source, *options).items():
        if run([program]).returncode == 77:
            skip("no OpenCL device; pocl-opencl-icd brings one")
        folder, report = watched(msleaks, scratch, program)
        wanted = expected(topic, source)
        heaps = {event["heap"] for event in events_of(msleaks, folder, "content")}
        equal(f"{name}: where the block is", heaps, {"host" if topic == "host" else "device"})
        equal(f"{name}: changes", changes(report), wanted)
        expect_counts(msleaks, folder, **OWN_CALLS.get(topic, {}))
        first = report.json["findings"][0]
        equal(f"{name}: the first finding", (first["kind"], first["evidence"]["block"], first["evidence"]["operation"], first["site"]["line"]),
              ("trampled", "weights", wanted[0][1], wanted[0][-1]))
        text = msleaks.output("report", folder)
        if topic == "opencl":
            equal(f"{name}: copies", sum(event["heap"] != "host" for event in events_of(msleaks, folder, "copy")), OPENCL_COPIES)
            # The program gives one cl_kernel handle to both kernels, one after the other.
            equal(f"{name}: launches", [event["name"] for event in events_of(msleaks, folder, "launch")], ["relu", "scale"] * 3)
        equal(f"{name}: in the text", f"of `weights` changed during `{wanted[0][1]}`" in text, True)
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: changes of the mended program", changes(report), [])
        print(f"{name}: {wanted}")


if __name__ == "__main__":
    main()
