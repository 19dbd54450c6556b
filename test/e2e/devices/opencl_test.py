#!/usr/bin/env python3
"""Images and buffers with properties on PoCL: each is a block of the size that the driver says, and an image of a buffer is none. A note says of a platform
that it is newer than the hooks.
   usage: opencl_test.py BUILD SCRATCH
"""
import os
import re

from device_run import PROGRAMS, Msleaks, build_programs, compile, equal, events_of, expect_allocations, expect_version_notes, run, watched
from msleaks_e2e import arguments, need, skip

SOURCE = PROGRAMS / "opencl.c"
LARGE = 256 << 20


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    newer = f"{scratch}/libnewer_opencl.so"
    compile(need("gcc"), "-shared", "-fPIC", PROGRAMS / "newer_opencl.c", "-o", newer, "-ldl")
    for name, program in build_programs(build, scratch, SOURCE, "-Wl,--no-as-needed", newer, "-lOpenCL").items():
        plain = run([program])
        if plain.returncode == 77:
            skip("no OpenCL device; pocl-opencl-icd brings one")
        sizes = {what: int(size) for what, size in re.findall(r"the ([a-z ]+) has (\d+) bytes", plain.stdout)}
        folder, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, folder, [("device", 0, LARGE), *(("device", 0, sizes[what]) for what in ("image", "forgotten image", "buffer"))])
        # PoCL's device is the processor: what it takes from malloc for the large buffer is no second block.
        taken = [event["size"] for event in events_of(msleaks, folder, "alloc") if event["heap"] == "host" and "driver" in event["flags"]]
        peaks = {heap["heap"]: heap["bytes"] for heap in report.json["peak"]["by_heap"]}
        equal(f"{name}: the large buffer {peaks}", (LARGE in taken, peaks["host"] < LARGE, peaks["device"] >= LARGE), (True, True, True))
        uses = [event for event in events_of(msleaks, folder, "access")]
        equal(f"{name}: writes and reads", [("write" in event["flags"], "read" in event["flags"]) for event in uses if event["address"] not in (0, "0x0")],
              [(True, False), (False, True)])
        leaks = [(row["bytes"], row["count"], row["site"]["function"]) for row in report.sites("leaks") if row["heap"] == "device"]
        equal(f"{name}: leaks", leaks, [(sizes["forgotten image"], 1, "image_of")])
        print(f"{name}: {sizes}")
    expect_version_notes(msleaks, scratch, program, "libOpenCL", 4)


if __name__ == "__main__":
    main()
