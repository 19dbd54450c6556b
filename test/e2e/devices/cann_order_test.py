#!/usr/bin/env python3
"""Tests that a hook records the free of a block before it calls the driver's free function. Another thread can get the same address
before the free function returns. The trace must still contain the free of the first block before the allocation of the second one.
   usage: cann_order_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, device_leaks, equal, events_of, watched
from msleaks_e2e import arguments

TIMES = 20


def lives_of(msleaks, folder):
    """Returns {(heap, address): [(event, whether the previous event is of the same thread)]}, in order of time."""
    lives, threads = {}, {}
    for event in events_of(msleaks, folder, "alloc,free"):
        if event["heap"] in ("device", "pinned"):
            place = event["heap"], event["address"]
            lives.setdefault(place, []).append((event["event"], threads.get(place) == event["tid"]))
            threads[place] = event["tid"]
    return lives


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    # At each address, the first thread allocates and frees. Then another thread allocates, and the first thread frees.
    turn = [("Alloc", True), ("Free", True), ("Alloc", False), ("Free", False)]
    for name, program in build_programs(build, scratch, PROGRAMS / "cann_order.c", f"-I{STANDINS}/cann", *ascend(scratch)).items():
        folder, report = watched(msleaks, scratch, program)
        for (heap, address), life in lives_of(msleaks, folder).items():
            equal(f"{name}: {heap} {address}", [("Alloc", True), *life[1:]], turn * (len(life) // len(turn)))
        heaps = sorted(heap for heap, _ in lives_of(msleaks, folder))
        equal(f"{name}: addresses", heaps, ["device"] * (len(heaps) - 1) + ["pinned"])
        equal(f"{name}: events", sum(map(len, lives_of(msleaks, folder).values())), 3 * TIMES * len(turn))
        equal(f"{name}: leaks", device_leaks(report), [])
    print("ok")


if __name__ == "__main__":
    main()
