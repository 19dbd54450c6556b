#!/usr/bin/env python3
"""Imports memory snapshots in the shape that PyTorch gives them, written by Python's pickle. The list of events begins in the middle of
the program, as PyTorch's ring does. The report must have the numbers that replaying the whole program gives.

    snapshot_test.py BUILD SCRATCH
"""
import pickle
import random
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from imported import all_leaks, export, findings_of, record_kept  # noqa: E402
from msleaks_e2e import Msleaks, Verb, arguments, check, empty_folder, equal  # noqa: E402

MIB = 1 << 20


class Allocator:
    """Allocates parts of segments at random, and notes each event, as PyTorch's allocator does."""

    def __init__(self, seed, base):
        self.random, self.base = random.Random(seed), base
        self.events, self.segments, self.blocks = [], {}, {}  # by address: bytes
        self.paths = [[{"filename": "??", "line": 0, "name": "c10::malloc"}, {"filename": "/home/u/train.py", "line": line, "name": "step"}]
                      for line in range(1, 20)]

    def note(self, action, address, size):
        # PyTorch makes each text once, so a pickle refers to it.
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1_700_000_000_000_000 + len(self.events),
                            "frames": self.random.choice(self.paths), "compile_context": "N/A", "user_metadata": ""})

    def step(self):
        if self.blocks and self.random.random() < 0.45:
            address = self.random.choice(list(self.blocks))
            size, _ = self.blocks.pop(address)
            self.note("free_requested", address, size)
            self.note("free_completed", address, size)
            segment = max(start for start in self.segments if start <= address)
            if not any(segment <= block < segment + self.segments[segment] for block in self.blocks):
                self.note("segment_free", segment, self.segments.pop(segment))
            return
        address = self.base + self.random.randrange(64) * 4 * MIB
        if address not in self.segments:
            self.segments[address] = 4 * MIB
            self.note("segment_alloc", address, 4 * MIB)
        size = self.random.randrange(1, 512) * 512
        place = address + self.random.randrange(16) * 256 * 1024
        if place not in self.blocks:
            self.note("alloc", place, size)
            self.blocks[place] = (size, self.events[-1]["frames"])

    def segments_at_end(self, device):
        for address, size in sorted(self.segments.items()):
            inside = sorted(block for block in self.blocks if address <= block < address + size)
            # The allocator rounds sizes up, but events have the requested size.
            blocks = [{"address": block, "size": self.blocks[block][0] + 100, "requested_size": self.blocks[block][0], "state": "active_allocated",
                       "frames": self.blocks[block][1]} for block in inside]
            yield {"device": device, "address": address, "total_size": size, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                   "is_expandable": False, "frames": [], "blocks": blocks}


def highest(events, first, begin, end):
    """Replays all events. Returns the highest sum from event `first` on, and the last sum."""
    live, peak, used = {}, 0, 0
    for index, event in enumerate(events):
        if index == first:
            peak = used
        if event["action"] == begin:
            live[event["addr"]] = event["size"]
            used += event["size"]
        elif event["action"] == end:
            used -= live.pop(event["addr"])
        peak = max(peak, used)
    return peak, used


def expect_replay(msleaks, scratch, protocol):
    devices = [Allocator(protocol * 10 + device, (0x7F00 + device) << 32) for device in range(2)]
    for allocator in devices:
        for _ in range(3000):
            allocator.step()
    firsts = [2000, 0]
    snapshot = {
        "segments": [segment for device, allocator in enumerate(devices) for segment in allocator.segments_at_end(device)],
        "device_traces": [allocator.events[first:] for allocator, first in zip(devices, firsts)] + [[]] * 6,
        "allocator_settings": {"expandable_segments": False, "garbage_collection_threshold": 0.0, "max_split_size": -1},
        "external_annotations": [],
    }
    file = scratch / f"protocol-{protocol}.pickle"
    file.write_bytes(pickle.dumps(snapshot, protocol))
    report = msleaks.report(file)
    accounts = {heap["heap"]: {line["device"]: line["bytes"] for line in heap["by_device"]} for heap in report.json["peak"]["by_heap"]}
    alive = {"device": 0, "pool": 0}
    for heap, begin, end in (("device", "segment_alloc", "segment_free"), ("pool", "alloc", "free_completed")):
        peaks = [highest(allocator.events, first, begin, end) for allocator, first in zip(devices, firsts)]
        alive[heap] = sum(last for _, last in peaks)
        if heap == "device":
            equal(f"peaks of {heap}s, protocol {protocol}", accounts[heap], dict(enumerate(peak for peak, _ in peaks)))
    equal("bytes of segments at the end", report.json["alive_at_end"]["bytes"], alive["device"])
    equal("bytes of blocks at the end", report.json["alive_at_end"]["pool"]["bytes"], alive["pool"])
    check(any("older than the first event" in note for note in report.json["notes"]), report.json["notes"])
    equal("source", report.json["session"]["source"], "pytorch")
    return file


class Reporting(Verb):
    name = "report"


def expect_refusals(msleaks, scratch, snapshot):
    verb = Reporting(msleaks, scratch)
    content = snapshot.read_bytes()
    for name, changed in (("cut", content[: len(content) // 2]), ("class", pickle.dumps(Path("x"))), ("other", pickle.dumps([1, 2]))):
        (scratch / name).write_bytes(changed)
        verb.refuse(3, f"{name}': ", scratch / name)


def main():
    build, scratch = arguments("build", "scratch")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    for protocol in (2, 3, 4, 5):
        snapshot = expect_replay(msleaks, scratch, protocol)
    expect_refusals(msleaks, scratch, snapshot)
    folder, recorded = record_kept(msleaks, scratch)
    imported = msleaks.report(export(msleaks, folder, "pytorch", scratch / "kept.pickle"))
    equal("findings", findings_of(imported), findings_of(recorded))
    equal("peak", imported.peak_bytes, recorded.peak_bytes)
    equal("leaks", all_leaks(imported), all_leaks(recorded))


if __name__ == "__main__":
    main()
