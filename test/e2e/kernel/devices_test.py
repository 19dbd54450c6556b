#!/usr/bin/env python3
"""Tests the collectors `pci` and `block` by devices of the machine: the configuration of each PCI device, and direct writes to a file.

    devices_test.py BUILD SCRATCH
"""
import os
import subprocess
import sys
from pathlib import Path

from kernel_run import KernelRuns, check, skip

DEVICES = Path("/sys/bus/pci/devices")
PROGRAM = """
import os, sys
for path in sys.argv[1:]:
    file = os.open(path, os.O_RDONLY)
    os.pread(file, 4, 0)
    os.pread(file, 2, 4)
    os.close(file)
"""
PIECE, PIECES = 65536, 20


def number_of(name):
    """Returns the number of a device such as 0000:00:03.0, as in the event."""
    domain, bus, device = name.split(":")
    device, function = device.split(".")
    return int(domain, 16) << 16 | int(bus, 16) << 8 | int(device, 16) << 3 | int(function, 16)


def test_pci(runs, devices):
    _, folder = runs.run("pci", "pci", [sys.executable, "-c", PROGRAM, *(device / "config" for device in devices)])
    reads = runs.events(folder, "pci-config")
    expected = []
    for device in devices:
        identity = int((device / "vendor").read_text(), 16) | int((device / "device").read_text(), 16) << 16
        expected.append((number_of(device.name), 0, 4, 0, identity))
    seen = [(each["function"], each["offset"], each["size"], each["operation"], each["value"]) for each in reads if each["offset"] == 0]
    check(seen == expected, f"reads of vendor and device: {seen}, not {expected}")
    check([each["offset"] for each in reads if each["offset"] != 0] == [4] * len(devices), f"other reads: {reads}")
    account = runs.account(folder, "pci")
    check(account["delivered"] == 2 * len(devices), f"{account}")


def direct_write(path):
    return ["dd", "if=/dev/zero", f"of={path}", f"bs={PIECE}", f"count={PIECES}", "oflag=direct", "conv=notrunc"]


def test_block(runs):
    """The bytes of the requests are those that the program has written."""
    path = runs.scratch / "written"
    if subprocess.run(direct_write(path), stderr=subprocess.DEVNULL).returncode != 0:
        print("block is not tested: this file system has no direct writes")
        return
    _, folder = runs.run("block", "block", direct_write(path))
    writes = [each for each in runs.events(folder, "block-io") if each["operation"] == 1]
    if not writes and runs.account(folder, "block")["entered"] == 0:
        print("block is not tested: this file system is on no block device")
        return
    written = sum(each["size"] for each in writes)
    check(written == PIECE * PIECES, f"{written} bytes in {len(writes)} requests, not {PIECE * PIECES}")
    check(all(each["duration_ns"] > 0 for each in writes), f"{writes}")
    account = runs.account(folder, "block")
    check(account["ring_full"] == account["map_full"] == account["unreturned"] == 0, f"{account}")


def main():
    runs = KernelRuns()
    if os.getuid() != 0:
        skip("not root: it cannot read the configuration of devices")
    runs.need("pci", "block")
    test_block(runs)
    devices = sorted(DEVICES.iterdir()) if DEVICES.exists() else []
    if not devices:
        skip("there is no PCI device")
    test_pci(runs, devices)


if __name__ == "__main__":
    main()
