#!/usr/bin/env python3
"""Runs a program on the stand-in of Ascend CANN (test/standins/cann). The program uses the runtime API ACL. Another library of the
vendor allocates memory from the driver, and the report names this library as the owner. If ACL itself calls the driver or the
runtime below ACL, msleaks still records only one event for the program's call.
   usage: cann_test.py BUILD SCRATCH
"""
import os

from device_run import (PROGRAMS, STANDINS, Msleaks, ascend, build_programs, device_leaks, equal, events_of, expect_allocations, expect_counts, expect_driver, expect_golden, expect_version_notes, watched)
from msleaks_e2e import arguments, line_of

SOURCE = PROGRAMS / "cann.c"
STEPS, WEIGHTS, ACTIVATIONS, FORGOTTEN, BUFFER, TABLE = 5, 1 << 20, 1 << 18, 8192, 1 << 19, 4096


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    folder = STANDINS / "cann"
    acl, driver, runtime = ascend(scratch)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{folder}", acl, driver, runtime).items():
        run, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, run, [("device", 1, WEIGHTS), ("pinned", 0, 4096), ("device", 0, BUFFER),
                                          *[("device", 1, ACTIVATIONS), ("device", 1, FORGOTTEN)] * STEPS])
        expect_golden(msleaks, run, "cann")
        expect_driver(report, 1, 16 * 256)  # ACL allocates 32 bytes more than the program requests
        expect_counts(msleaks, run, launch=STEPS, copy=5, set=STEPS, failed=1)  # 3 copies copy rows, and 1 of these 3 is refused
        refused = [(event["device"], event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed") if event["heap"] == "device"]
        equal(f"{name}: refused", refused, [(1, 1 << 40, 200000)])
        forgotten = ("device", 1, STEPS, STEPS * FORGOTTEN, line_of(SOURCE, "// forgotten"))
        leaks = device_leaks(report)
        equal(f"{name}: the user's leak", [leak for leak in leaks if leak[-1] == forgotten[-1]], [forgotten])
        equal(f"{name}: leaks of device 0", [leak[:4] for leak in leaks if leak[1] == 0], [("device", 0, 1, BUFFER)])
        equal(f"{name}: leaks", len(leaks), 2)
        no_memory = [finding["site"]["line"] for finding in report.json["findings"] if finding["kind"] == "out-of-memory"]
        equal(f"{name}: findings of what was refused, and asks for memory", no_memory, [line_of(SOURCE, '"too much"')])
        owners = [row for section in report.json["sections"] if section["name"] == "owners" for row in section["rows"]]
        equal(f"{name}: owners of the driver's memory", "HCCL" in str(owners), True)
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        registered = [(event["size"], event["flags"]) for event in events_of(msleaks, run, "alloc") if event["heap"] == "registered"]
        equal(f"{name}: registered", [size for size, flags in registered if "restored" not in flags], [TABLE, TABLE])
        print(f"{name}: {leaks}")
    expect_version_notes(msleaks, scratch, program, "libascendcl", 2)
    expect_version_notes(msleaks, scratch, program, "libascend_hal", 8, variable="STANDIN_HAL_VERSION")


if __name__ == "__main__":
    main()
