#!/usr/bin/env python3
"""Tests physical memory that a program allocates from CUDA's driver or HIP and maps itself. The block is alive as long as its handle
or a mapping exists. msleaks records the mapped addresses, so copies and fills at these addresses count as uses of the block.
   usage: cuda_mapped_test.py BUILD SCRATCH cuda_mapped|hip_mapped
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, events_of, expect_allocations, expect_golden, sources_for, standin, watched
from msleaks_e2e import arguments, check, line_of

SEGMENT = 2 << 20


def expect_mapped(msleaks, name, run):
    """Checks the five mappings. Each maps an existing block. For the refused unmapping, the trace has two events: the second one undoes
    the first one."""
    blocks = {event["address"] for event in events_of(msleaks, run, "alloc") if event["heap"] == "device"}
    events = events_of(msleaks, run, "mapped")
    shown = [event for event in events if event["block"] != 0 and event["block"] != "0x0"]
    hidden = [event["size"] for event in events if event not in shown and "restored" not in event["flags"]]
    equal(f"{name}: mapped", [event["size"] for event in shown], [SEGMENT] * 5)
    equal(f"{name}: the blocks", {event["block"] for event in shown} <= blocks, True)
    equal(f"{name}: unmapped", hidden, [SEGMENT // 2, SEGMENT, SEGMENT, 2 * SEGMENT])
    equal(f"{name}: refused", [event["size"] for event in events if "restored" in event["flags"]], [SEGMENT // 2])


def expect_others(msleaks, name, source, run, report):
    """Checks that memory of the host counts as memory of the host. Memory of another process has a place, a size from its mapping and
    uses, but is no leak."""
    expect_allocations(msleaks, run, [("pinned", 0, SEGMENT), ("pinned", 0, SEGMENT // 2)])
    equal(f"{name}: peaks", [report.heap_peak_bytes(heap) for heap in ("device", "pinned", "imported")], [0, SEGMENT, SEGMENT])
    equal(f"{name}: leak of the host's memory", device_leaks(report), [("pinned", 0, 1, SEGMENT // 2, line_of(source, "// kept on the host"))])
    rows = sorted((row[0]["line"], *row[1:]) for row in report.rows("imported"))
    equal(f"{name}: imported", rows, [(line_of(source, "// imported"), SEGMENT, 1, 1, 0), (line_of(source, "// never mapped"), 0, 1, 0, 1)])
    equal(f"{name}: frees of no block", report.json["blocks"]["unmatched_frees"], 0)
    equal(f"{name}: mappings", len([event for event in events_of(msleaks, run, "mapped") if event["block"] not in (0, "0x0", None)]), 2)


def expect_multicast(msleaks, name, source, run, report):
    """Checks that a copy to a multicast object is a copy to the blocks that are bound to it."""
    bound = [(event["size"], event["block"] not in (0, "0x0", None)) for event in events_of(msleaks, run, "mapped") if "driver" in event["flags"]]
    equal(f"{name}: bound and unbound", bound, [(SEGMENT, True)] * 2 + [(SEGMENT, False)] * 2)
    copies = [finding["evidence"] for finding in report.json["findings"] if finding["kind"] == "copy"]
    equal(f"{name}: copied to", [f"cuda_mapped.c:{line_of(source, '// bound')}" in str(copy["copied_to"]) for copy in copies], [True])
    equal(f"{name}: leaks", device_leaks(report), [])


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    names = [("cuda", "hip"), ("cuMem", "hipMem"), ("cuGraphLaunch", "hipGraphLaunch_spt")]
    folder = sources_for(topic, names, scratch, PROGRAMS / "cuda_mapped.c",
                         *(STANDINS / "cuda" / name for name in ("cudart.cpp", "libcuda_memory.cpp", "cuda_runtime_api.h")))
    both = [folder / "cudart.cpp", folder / "libcuda_memory.cpp"]
    if topic.startswith("hip"):
        libraries = [standin(scratch, "libamdhip64.so.6", *both), "-DHIP"]
    else:
        driver = standin(scratch, "libcuda.so.1", both[1])
        libraries = [standin(scratch, "libcudart.so.12", both[0], link=[driver]), driver]
    msleaks = Msleaks(build)
    source = folder / "cuda_mapped.c"
    for name, program in build_programs(build, scratch, source, f"-I{folder}", *libraries).items():
        run, report = watched(msleaks, scratch, program)
        expect_allocations(msleaks, run, [("device", 1, SEGMENT)] * 5)
        expect_golden(msleaks, run, topic)
        expect_mapped(msleaks, name, run)
        equal(f"{name}: the peak of the device", report.heap_peak_bytes("device"), 2 * SEGMENT)
        leak = ("device", 1, 1, SEGMENT, line_of(source, "// forgotten"))
        equal(f"{name}: leaks", device_leaks(report), [leak])
        copies = [finding["evidence"] for finding in report.json["findings"] if finding["kind"] == "copy"]
        check(len(copies) == 1 and f"cuda_mapped.c:{line_of(source, '// a segment')}" in str(copies[0]["copied_to"]),
              f"{name}: the host's block is copied to the one that the address shows: {copies}")
        equal(f"{name}: frees of no block", report.json["blocks"]["unmatched_frees"], 4)
        _, report = watched(msleaks, scratch, program, "mended")
        equal(f"{name}: leaks of the mended program", device_leaks(report), [])
        expect_others(msleaks, name, source, *watched(msleaks, scratch, program, "others"))
        if topic.startswith("cuda"):
            expect_multicast(msleaks, name, source, *watched(msleaks, scratch, program, "multicast"))
        print(f"{name}: {leak}")


if __name__ == "__main__":
    main()
