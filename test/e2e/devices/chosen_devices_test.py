#!/usr/bin/env python3
"""Tests that `msleaks-run --device` records only the blocks of the chosen devices, and all their frees.
   usage: chosen_devices_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, check, equal, events_of, expect_same, run, standin
from msleaks_e2e import arguments

OF_DEVICE = {0: [1000, 3000], 1: [2000, 6000]}
# option: the devices whose blocks are recorded, and whether the blocks of the host are
CHOICES = {"npu": ([0, 1], False), "npu:1": ([1], False), "gpu:0": ([0], False), "cpu": ([], True), "cpu,npu:1": ([1], True)}


def expect_blocks(msleaks, folder, report, devices, host):
    allocations = events_of(msleaks, folder, "alloc")
    sizes = sorted(event["size"] for event in allocations if event["heap"] == "device")
    equal("blocks of devices", sizes, sorted(size for device in devices for size in OF_DEVICE[device]))
    frees = [event for event in events_of(msleaks, folder, "free") if event["heap"] == "device"]
    equal("frees of devices' blocks", len(frees) > 0, devices != [])
    equal("refused allocations", len(events_of(msleaks, folder, "alloc-failed")), int(1 in devices))
    equal("peak of the devices", report.heap_peak_bytes("device"), 4000 + sum(OF_DEVICE[1]) - 3000 if devices == [0, 1] else sum(sizes))
    pinned = [event["size"] for event in allocations if event["heap"] == "pinned"]
    equal("page-locked blocks", pinned, [700] if host else [])
    check(host == any(event["heap"] == "host" and event["size"] == 5000 for event in allocations), "the block of the host")
    check(host or not any(event["heap"] in ("host", "mapping") for event in allocations), "the host has blocks")
    check(host or not any(event["heap"] in ("host", "mapping") for event in events_of(msleaks, folder, "free")), "the host has frees")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    library = standin(scratch, "libcudart.so.12", STANDINS / "cuda/cudart.cpp")
    programs = build_programs(build, scratch, PROGRAMS / "chosen_devices.c", f"-I{STANDINS}/cuda", library)
    msleaks = Msleaks(build)
    for way, program in programs.items():
        plain = run([program])
        for choice, (devices, host) in CHOICES.items():
            folder = f"{scratch}/{way.replace(' ', '-')}-{choice.replace(',', '-').replace(':', '')}"
            done, report = msleaks.run(folder, [program], ["--device", choice])
            expect_same(plain, done)
            report.expect_account()
            expect_blocks(msleaks, folder, report, devices, host)
            check(any("--device" in note for note in report.json["notes"]), f"{choice}: no note")
            check(host or all(finding["kind"] in ("leak", "out-of-memory") for finding in report.json["findings"]), f"{choice}: {report.json['findings']}")
            print(f"{way}, {choice}: devices {devices}, host {host}")


if __name__ == "__main__":
    main()
