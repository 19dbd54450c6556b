#!/usr/bin/env python3
"""The end of a block is recorded before its driver gets the block back. Another thread may get the same address before the freeing
call returns. Then the end of the first block still comes before the beginning of the second one.
   usage: cann_order_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, device_leaks, equal, events_of, watched
from msleaks_e2e import arguments

TIMES = 20


def lives_of(msleaks, folder):
    """{(heap, address): [(event, whether the same thread recorded the event before it)], in order of time}"""
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
    # The first thread allocates and frees, another thread allocates, and the first thread frees.
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
