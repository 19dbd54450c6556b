#!/usr/bin/env python3
"""Calls the stand-in of Ascend's driver directly, without ACL. msleaks reads heap, device and owner of each block from the flag
word or the property structure of the call. These values can be invalid. The tree of owners has a level for the page size. A handle
of physical memory can equal the address of a block, but msleaks must not confuse the handle with this block.
   usage: hal_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_golden, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE, KIB = PROGRAMS / "hal.c", 1 << 10
# The names of the driver's modules, in the order of their numbers in the driver's header. A module is a library that uses the driver.
MODULES = """SLOG IDEDD IDEDH HCCL FMK HIAIENGINE DVPP RUNTIME CCE HDC DRV MDCFUSION MDCLOCATION MDCPERCEPTION MDCFSM MDCCOMMON MDCMONITOR MDCBSWP
MDCDEFAULT MDCSC MDCPNC MLL DEVMM KERNEL LIBMEDIA CCECPU ASCENDDK ROS HCCP ROCE TEFUSION PROFILING DP APP TS TSDUMP AICPU LP TDT FE MD MB ME IMU IMP
GE MDCFUSA CAMERA ASCENDCL TEEOS ISP SIS HSM DSS PROCMGR BBOX AIVECTOR TBE FV MDCMAP TUNE HSS FFTS OP UDF HICAID TSYNC AUDIO TPRT ASCENDCKERNEL ASYS
ATRACE RTC SYSMONITOR AML invalid""".split()


def owners(report):
    return {tuple(str(cell) for cell in row) for row in report.rows("owners")}


def expect_modules(msleaks, scratch, program, name):
    """Checks that the event of each module's block has the module's name, not its number."""
    run, _ = watched(msleaks, scratch, program, "modules")
    equal(f"{name}: modules", [event["label"] for event in events_of(msleaks, run, "owner-push")], [*MODULES, "invalid"])
    expect_allocations(msleaks, run, [("device", 0, KIB + module) for module in range(len(MODULES) + 1)])


def expect_all(msleaks, scratch, program, name):
    run, report = watched(msleaks, scratch, program)
    expect_golden(msleaks, run, "hal")
    expect_allocations(msleaks, run, [("device", 1, 64 * KIB), ("device", 1, 128 * KIB), ("device", 0, 256 * KIB), ("pinned", 0, 4 * KIB),
                                      ("managed", 1, 8 * KIB), ("device", 0, 16 * KIB), ("device", 1, 32 * KIB),
                                      ("device", 1, 512 * KIB), ("pinned", 0, 512 * KIB), ("pinned", 0, 512 * KIB)])
    refused = [(event["heap"], event["size"], event["status"]) for event in events_of(msleaks, run, "alloc-failed") if event["heap"] != "host"]
    equal(f"{name}: refused", refused, [("device", KIB, 3)])
    pushed = [event["label"] for event in events_of(msleaks, run, "owner-push")]
    equal(f"{name}: owners", pushed, ["HCCL", "HCCL@pages of 2 MiB", "HCCL@pages of 1 GiB", "RUNTIME", "RUNTIME", "DVPP", "invalid", "invalid",
                                      "HCCL@pages of 2 MiB", "RUNTIME", "invalid"])
    equal(f"{name}: retargets", events_of(msleaks, run, "retarget"), [])
    equal(f"{name}: leaks", device_leaks(report), [("device", 1, 1, 128 * KIB, line_of(SOURCE, "// alloc"))])
    text = str(owners(report))
    for owner in "HCCL", "pages of 2 MiB", "pages of 1 GiB", "RUNTIME", "DVPP":
        equal(f"{name}: {owner} among the owners {text}", owner in text, True)
    equal(f"{name}: unmatched", [note for note in report.json["notes"] if "unmatched" in str(note)], [])


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    for kind, options in ("public", []), ("inner", ["-DSTANDIN_INNER"]):
        folder = f"{scratch}/{kind}"
        os.makedirs(folder, exist_ok=True)
        driver = standin(folder, "libascend_hal.so", STANDINS / "cann/driver.cpp", link=options)
        for name, program in build_programs(build, folder, SOURCE, f"-I{STANDINS}/cann", "-Wl,--no-as-needed", driver).items():
            expect_all(msleaks, folder, program, f"{kind}, {name}")
            expect_modules(msleaks, folder, program, f"{kind}, {name}")
    print("ok")


if __name__ == "__main__":
    main()
