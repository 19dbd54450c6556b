#!/usr/bin/env python3
"""Tests OpenCL's memory objects on the driver PoCL. msleaks records images, and buffers with properties, as blocks of the size that
the driver reports. A sub-buffer, or an image of a buffer, is not a block of its own. The use of a sub-buffer or image counts as a
use of the buffer. Also tests shared memory, pipes and retained buffers. A note names a platform that is newer than the hooks.
   usage: opencl_test.py BUILD SCRATCH
"""
import os
import re

from device_run import PROGRAMS, Msleaks, build_programs, check, equal, events_of, expect_allocations, expect_counts, expect_version_notes, opencl_behind, run, watched
from msleaks_e2e import arguments, skip

SOURCE, CALLS = PROGRAMS / "opencl.c", PROGRAMS / "opencl_calls.c"
LARGE = 256 << 20
SHARED, OWNED, PACKETS, PART = 7000, 300000, 2400, 1 << 20


def expect_images(msleaks, scratch, name, program):
    plain = run([program])
    if plain.returncode == 77:
        skip("no OpenCL device; pocl-opencl-icd brings one")
    sizes = {what: int(size) for what, size in re.findall(r"the ([a-z ]+) has (\d+) bytes", plain.stdout)}
    folder, report = watched(msleaks, scratch, program)
    expect_allocations(msleaks, folder, [("device", 0, LARGE), *(("device", 0, sizes[what]) for what in ("image", "forgotten image", "buffer"))])
    # PoCL's device is the host's processor, so PoCL allocates the large buffer by malloc. The report must not count the buffer twice.
    taken = [event["size"] for event in events_of(msleaks, folder, "alloc") if event["heap"] == "host" and "driver" in event["flags"]]
    peaks = {heap["heap"]: heap["bytes"] for heap in report.json["peak"]["by_heap"]}
    equal(f"{name}: the large buffer {peaks}", (LARGE in taken, peaks["host"] < LARGE, peaks["device"] >= LARGE), (True, True, True))
    uses = [event for event in events_of(msleaks, folder, "access")]
    equal(f"{name}: writes and reads", [("write" in event["flags"], "read" in event["flags"]) for event in uses], [(True, False), (False, True)])
    equal(f"{name}: leaks", leaks(report), [(sizes["forgotten image"], 1, "image_of")])
    print(f"{name}: {sizes}")


def leaks(report):
    return [(row["bytes"], row["count"], row["site"]["function"]) for row in report.sites("leaks") if row["heap"] == "device"]


def blocks_of(msleaks, folder, heap):
    return [(event["size"], event["address"]) for event in events_of(msleaks, folder, "alloc") if event["heap"] == heap and "restored" not in event["flags"]]


def expect_calls(msleaks, scratch, name, program):
    plain = run([program])
    images = [int(size) for size in re.findall(r"an image of (\d+) bytes", plain.stdout)]
    equal("images", len(images), 3)
    folder, report = watched(msleaks, scratch, program)
    pipe_status = int(re.search(r"the pipe: (-?\d+)", plain.stdout)[1])
    refused = [(event["size"], event["status"] % 2**32) for event in events_of(msleaks, folder, "alloc-failed")]
    equal(f"{name}: the pipe, refused", refused, [(PACKETS, pipe_status % 2**32)] if pipe_status else [])
    pipes = [] if pipe_status else [PACKETS]
    equal(f"{name}: blocks", [size for size, _ in blocks_of(msleaks, folder, "device")], [*pipes, *images, OWNED, OWNED + 1, OWNED + 2])
    # PoCL allocates shared blocks by malloc. A retarget event then turns the block of malloc into the block of the OpenCL call.
    shared = [(event["size"], event["address"]) for event in events_of(msleaks, folder, "retarget") if event["heap"] == "managed"]
    equal(f"{name}: shared blocks", [size for size, _ in shared], [SHARED, SHARED + 4])
    freed = [event["address"] for event in events_of(msleaks, folder, "free") if event["heap"] == "managed"]
    equal(f"{name}: shared blocks that are freed", freed, [address for _, address in shared])
    [launch] = events_of(msleaks, folder, "launch")
    uses = [(event["address"], [flag for flag in ("read", "write") if flag in event["flags"]]) for event in events_of(msleaks, folder, "access")]
    equal(f"{name}: mapped, unmapped, the kernel's argument", (uses, "listed" in launch["flags"]),
          ([(shared[0][1], ["read", "write"]), (shared[0][1], ["read", "write"]), (shared[0][1], [])], True))
    expect_counts(msleaks, folder, retain=2)
    equal(f"{name}: alive until the last owner gives it back", report.heap_peak_bytes("device"), 2 * OWNED + 1)
    equal(f"{name}: leaks", leaks(report), [(OWNED + 2, 1, "buffer_of")])


def expect_parts(msleaks, scratch, name, program):
    """Checks that a use of a sub-buffer is a use of its buffer. A buffer must stay alive as long as one of its sub-buffers."""
    folder, report = watched(msleaks, scratch, program, "parts")
    blocks = dict(blocks_of(msleaks, folder, "device"))
    equal(f"{name}: blocks", sorted(blocks), [size * PART for size in range(2, 8)])
    shown = [event["block"] for event in events_of(msleaks, folder, "mapped")]
    equal(f"{name}: parts of", shown, [blocks[size * PART] for size in (2, 3, 4, 5, 7)])
    equal(f"{name}: all uses are known", all(int(str(event["address"]), 0) for event in events_of(msleaks, folder, "access")), True)
    check(report.json["floor"] is not None, f"{name}: there is no floor")
    [unused] = [finding for finding in report.json["findings"] if finding["kind"] == "unused" and finding["heap"] == "device"]
    equal(f"{name}: never used", (unused["count"], unused["bytes"]), (1, 6 * PART))
    equal(f"{name}: leaks", leaks(report), [(7 * PART, 1, "buffer_of")])
    equal(f"{name}: frees of nothing", report.json["blocks"]["unmatched_frees"], 0)
    print(f"{name}: a floor of {report.json['floor']['bytes']} bytes")


def expect_native(msleaks, scratch, name, program):
    """A native kernel is a host function, so msleaks cannot find out which memory it uses. So the report must have no floor. (The
    floor is the peak that would remain if each block were alive only while it is in use.)"""
    folder, report = watched(msleaks, scratch, program, "native")
    equal(f"{name}: uses", [int(str(event["address"]), 0) != 0 for event in events_of(msleaks, folder, "access")], [True, False])
    equal(f"{name}: the floor", report.json["floor"], None)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(f"{scratch}/calls", exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, *opencl_behind(scratch, "newer_opencl")).items():
        expect_images(msleaks, scratch, name, program)
    expect_version_notes(msleaks, scratch, program, "libOpenCL", 4)
    for name, program in build_programs(build, f"{scratch}/calls", CALLS, "-lOpenCL").items():
        for expect in expect_calls, expect_parts, expect_native:
            expect(msleaks, f"{scratch}/calls", name, program)


if __name__ == "__main__":
    main()
