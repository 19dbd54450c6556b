#!/usr/bin/env python3
"""Tests physical memory that a program allocates from Ascend's driver and maps itself. The block is alive as long as its handle or a
mapping exists. The driver unmaps by an address alone.
   usage: hal_mapped_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE, SEGMENT = PROGRAMS / "hal_mapped.c", 2 << 20


def expect_mapped(msleaks, name, run):
    """Checks the four mappings. For the refused unmapping, the trace has two events: the second one undoes the first one."""
    blocks = {event["address"] for event in events_of(msleaks, run, "alloc") if event["heap"] == "device"}
    events = events_of(msleaks, run, "mapped")
    shown = [event for event in events if event["block"]]
    equal(f"{name}: mapped", [event["size"] for event in shown], [SEGMENT] * 4)
    equal(f"{name}: the blocks", {event["block"] for event in shown} <= blocks, True)
    equal(f"{name}: unmapped", len([event for event in events if event not in shown and "restored" not in event["flags"]]), 4)
    equal(f"{name}: refused", len([event for event in events if "restored" in event["flags"]]), 1)


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    for kind, options in ("public", []), ("inner", ["-DSTANDIN_INNER"]):
        folder = f"{scratch}/{kind}"
        os.makedirs(folder, exist_ok=True)
        driver = standin(folder, "libascend_hal.so", STANDINS / "cann/driver.cpp", link=options)
        for way, program in build_programs(build, folder, SOURCE, f"-I{STANDINS}/cann", "-Wl,--no-as-needed", driver).items():
            name = f"{kind}, {way}"
            run, report = watched(msleaks, folder, program)
            expect_allocations(msleaks, run, [("device", 1, SEGMENT)] * 4)
            expect_mapped(msleaks, name, run)
            equal(f"{name}: the peak of the device", report.heap_peak_bytes("device"), 2 * SEGMENT)
            equal(f"{name}: leaks", device_leaks(report), [("device", 1, 1, SEGMENT, line_of(SOURCE, "// forgotten"))])
            equal(f"{name}: frees of no block", report.json["blocks"]["unmatched_frees"], 0)
            _, report = watched(msleaks, folder, program, "mended")
            equal(f"{name}: leaks of the mended program", device_leaks(report), [])
            run, report = watched(msleaks, folder, program, "imported")
            expect_allocations(msleaks, run, [])
            equal(f"{name}: frees of another's block", report.json["blocks"]["unmatched_frees"], 0)
            print(f"{name}: ok")


if __name__ == "__main__":
    main()
