#!/usr/bin/env python3
"""Tests programs of CUDA and of HIP on a stand-in of the runtime library (test/standins/cuda). The report has each allocation with
its device, each leak and each refused call. The test runs once with hooks alone, and once with hooks and plugin. The program gets the
same results and the same last error as without msleaks.
   usage: cuda_test.py BUILD SCRATCH cuda|hip
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, expect_driver,
                        expect_golden, expect_version_notes, run, sources_for, standin, watched)
from msleaks_e2e import arguments, expect_same, line_of

STEPS, MODEL, ACTIVATIONS, FORGOTTEN = 4, 1 << 20, 1 << 16, 4096


def expect_events(msleaks, folder):
    """Checks that each allocation is recorded once, with the device that the calling thread has chosen."""
    expect_allocations(msleaks, folder, [("device", 0, MODEL), ("pinned", 0, 8192), ("managed", 0, 16384), ("device", 0, 1024 * 16),
                                         *[("device", 1, FORGOTTEN)] * STEPS, *[("device", 0, ACTIVATIONS)] * (2 * STEPS)])
    failed = [(event["device"], event["status"]) for event in events_of(msleaks, folder, "alloc-failed") if event["heap"] == "device"]
    equal("refused", failed, [(0, 2)])
    expect_counts(msleaks, folder, launch=STEPS + 2, copy=2, set=STEPS, failed=1)


def expect_own_error_taken(msleaks, scratch, program, vendor):
    """The library refuses a call that msleaks itself makes. The program must not see the error of this call."""
    environment = {**os.environ, "STANDIN_FAIL": f"{vendor}MemGetInfo:1:999"}
    done, report = msleaks.run(f"{scratch}/unasked", [program], env=environment)
    expect_same(run([program]), done)
    report.expect_account()


def main():
    build, scratch, vendor = arguments("build", "scratch", "vendor")
    os.makedirs(scratch, exist_ok=True)
    folder = sources_for(vendor, [("cuda", "hip")], scratch, PROGRAMS / "cuda.c", STANDINS / "cuda/cudart.cpp", STANDINS / "cuda/cuda_runtime_api.h")
    library = standin(scratch, {"cuda": "libcudart.so.12", "hip": "libamdhip64.so.6"}[vendor], folder / "cudart.cpp")
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, folder / "cuda.c", f"-I{folder}", library).items():
        folder_of_run, report = watched(msleaks, scratch, program)
        expect_events(msleaks, folder_of_run)
        expect_golden(msleaks, folder_of_run, vendor, name)
        expect_driver(report, 0)
        if name == "hooks":
            launch = events_of(msleaks, folder_of_run, "launch")[STEPS]
            equal("a launch with a configuration", [launch[key] for key in ("grid_x", "grid_y", "grid_z", "block_x", "shared_bytes")], [5, 6, 7, 8, 64])
        leak = ("device", 1, STEPS, STEPS * FORGOTTEN, line_of(folder / "cuda.c", "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        first = report.json["findings"][0]
        equal(f"{name}: the first finding", (first["kind"], first["device"], first["site"]["line"]),
              ("out-of-memory", 0, line_of(folder / "cuda.c", "// refused")))
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        print(f"{name}: {leak}")
    expect_own_error_taken(msleaks, scratch, program, vendor)
    expect_version_notes(msleaks, scratch, program, *{"cuda": ("libcudart", 13060, 14000), "hip": ("libamdhip64", 70300000, 80000000)}[vendor])


if __name__ == "__main__":
    main()
