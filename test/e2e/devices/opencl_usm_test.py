#!/usr/bin/env python3
"""Tests memory of OpenCL's extension cl_intel_unified_shared_memory. A program gets the functions of the extension by their names, from
a stand-in of OpenCL's loader and of a driver (test/standins/opencl). Each block is recorded once, in the heap that its function names, with
its uses. The program gets the same results as without msleaks. A driver may also allocate such memory by malloc.
   usage: opencl_usm_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, standin, watched
from msleaks_e2e import arguments, line_of, skip

SOURCE, STANDIN = PROGRAMS / "opencl_usm.c", STANDINS / "opencl"
HOST, DEVICE, SHARED, FORGOTTEN = 4096, 8192, 16384, 12288
INVALID_VALUE = 2**64 - 30  # a dump prints a status without its sign


def expect_events(msleaks, folder, name):
    expect_allocations(msleaks, folder, [("pinned", 0, HOST), ("device", 0, DEVICE), ("managed", 0, SHARED), ("device", 0, FORGOTTEN)])
    refused = [(event["heap"], event["size"]) for event in events_of(msleaks, folder, "alloc-failed")]
    equal(f"{name}: refused", refused, [("device", 1 << 40)])
    expect_counts(msleaks, folder, launch=1, copy=1, set=2)
    equal(f"{name}: refused fills", [event["status"] for event in events_of(msleaks, folder, "failed")], [INVALID_VALUE])
    places = {event["size"]: event["address"] for event in events_of(msleaks, folder, "alloc")}
    copy, = events_of(msleaks, folder, "copy")
    equal(f"{name}: ends of the copy", (copy["destination"], copy["source"], copy["size"]), (places[HOST], places[DEVICE], HOST))
    equal(f"{name}: filled", {event["destination"] for event in events_of(msleaks, folder, "set")}, {places[DEVICE]})


def expect_report(msleaks, scratch, name, program):
    folder, report = watched(msleaks, scratch, program)
    expect_events(msleaks, folder, name)
    equal(f"{name}: leaks", device_leaks(report), [("device", 0, 1, FORGOTTEN, line_of(SOURCE, "// forgotten"))])
    equal(f"{name}: frees of nothing", report.json["blocks"]["unmatched_frees"], 0)
    notes = [note for note in report.json["notes"] if "libusm_driver" in note or "OpenCL" in note]
    equal(f"{name}: notes about the loader or the driver", notes, [])
    _, report = watched(msleaks, scratch, program, "mended")
    equal(f"{name}: leaks of the mended program", device_leaks(report), [])


def expect_heap(msleaks, scratch, program):
    """Checks a driver that allocates by malloc. Memory of the host and shared memory are then blocks of the host, at the same lines."""
    os.environ["STANDIN_HEAP"] = "1"
    os.makedirs(scratch, exist_ok=True)
    folder, report = watched(msleaks, scratch, program)
    expect_allocations(msleaks, folder, [("device", 0, DEVICE), ("device", 0, FORGOTTEN)])
    equal("blocks of the host", [event["size"] for event in events_of(msleaks, folder, "retarget")], [HOST, SHARED])
    equal("blocks by malloc: leaks", device_leaks(report), [("device", 0, 1, FORGOTTEN, line_of(SOURCE, "// forgotten"))])
    equal("blocks by malloc: frees of nothing", report.json["blocks"]["unmatched_frees"], 0)


def main():
    build, scratch = arguments("build", "scratch")
    if not os.path.exists("/usr/include/CL/cl_ext.h"):
        skip("no /usr/include/CL/cl_ext.h (Debian's package opencl-c-headers)")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    standin(scratch, "libusm_driver.so", STANDIN / "driver.cpp")
    loader = standin(scratch, "libOpenCL.so.1", STANDIN / "loader.cpp", link=["-ldl"])
    programs = build_programs(build, scratch, SOURCE, loader)
    for name, program in programs.items():
        expect_report(msleaks, scratch, name, program)
    expect_heap(msleaks, f"{scratch}/heap", programs["hooks"])


if __name__ == "__main__":
    main()
