#!/usr/bin/env python3
"""Exports recorded runs as pytorch. Python's unpickler must read the numbers of `msleaks report --json` from the snapshot. The snapshot
must keep the rules of PyTorch's viewer in JavaScript, which fails if one of them is broken.

    snapshot_test.py BUILD SCRATCH
"""
import pickle
import pickletools
import shutil
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "devices")]
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, line_of, run  # noqa: E402
from pytorch_test import SOURCE as TENSORS, build_program  # noqa: E402

HERE = Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # Debian's, which may have PyTorch
TRAINING = HERE.parent / "programs/programs/tensor_kinds.py"
# The opcodes that the viewer knows.
OPCODES = {"PROTO", "APPEND", "APPENDS", "LIST", "TUPLE", "NEWFALSE", "NEWTRUE", "NONE", "BINGET", "BININT", "BININT1", "BININT2", "EMPTY_DICT",
           "EMPTY_LIST", "FRAME", "LONG1", "LONG_BINGET", "MARK", "MEMOIZE", "BINPUT", "LONG_BINPUT", "SETITEMS", "SETITEM", "DICT",
           "SHORT_BINUNICODE", "BINUNICODE", "STOP", "EMPTY_TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "BINFLOAT"}
CATEGORIES = {"parameters": "parameter", "gradients": "gradient", "optimizer state": "optimizer_state", "activations": "activation",
              "kept over passes": "activation", "forward pass": "activation", "temporaries": "temporary", "other tensors": "input"}
HOSTILE = ['a;b "c", \'d\'\n<e>{f} 7', "=1+1|%s\x1b[31m", "n" * 4096]


class Lane:
    """Follows the events of one device, as a viewer does."""

    def __init__(self, events):
        self.live, self.segments = {}, {}
        self.peak = self.segments_peak = self.peak_index = bytes_ = 0
        previous = None
        for index, event in enumerate(events):
            action, address, size = event["action"], event["addr"], event["size"]
            if action == "alloc":
                check(address not in self.live, f"{address:x} is allocated twice")
                self.live[address] = event
                bytes_ += size
                if bytes_ > self.peak:
                    self.peak, self.peak_index = bytes_, index
            elif action == "free_completed":
                check(previous["action"] == "free_requested" and previous["addr"] == address, "a free is not requested directly before")
                equal("size of a free", self.live.pop(address)["size"], size)
                bytes_ -= size
            elif action == "segment_alloc":
                self.segments[address] = event
                self.segments_peak = max(self.segments_peak, self.bytes_of(self.segments))
            elif action == "segment_free":
                equal("size of a segment's free", self.segments.pop(address)["size"], size)
            previous = event
        times = [event["time_us"] for event in events]
        equal("order of time", times, sorted(times))

    @staticmethod
    def at_peak(events, peak_index):
        live = {}
        for event in events[: peak_index + 1]:
            if event["action"] == "alloc":
                live[event["addr"]] = event
            elif event["action"] == "free_completed":
                del live[event["addr"]]
        return live.values()

    @staticmethod
    def bytes_of(events):
        return sum(event["size"] for event in events.values())


def check_segments(snapshot, lanes):
    """Each live block lies in a segment, and the blocks of a segment fill it."""
    found = [{} for _ in lanes]
    for segment in snapshot["segments"]:
        equal("sum of a segment", sum(block["size"] for block in segment["blocks"]), segment["total_size"])
        address = segment["address"]
        for block in segment["blocks"]:
            equal("address of a block", block["address"], address)
            if block["state"] == "active_allocated":
                found[segment["device"]][address] = block["size"]
            address += block["size"]
    for blocks, lane in zip(found, lanes):
        equal("blocks in segments", blocks, {address: event["size"] for address, event in lane.live.items()})


def export(msleaks, folder):
    file = Path(f"{folder}.pickle")
    done = run([msleaks.bin / "msleaks", "export", folder, "--format", "pytorch", "-o", file])
    equal("status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return file


def read(msleaks, folder):
    """Returns the snapshot and its lanes by name."""
    data = export(msleaks, folder).read_bytes()
    used = {opcode.name for opcode, _, _ in pickletools.genops(data)}
    check(used <= OPCODES, f"the viewer does not know {used - OPCODES}")
    snapshot = pickle.loads(data)
    lanes = [Lane(events) for events in snapshot["device_traces"]]
    check_segments(snapshot, lanes)
    categories = {event["category"] for events in snapshot["device_traces"] for event in events if "category" in event}
    check(not categories or "unknown" in categories, f"the viewer fails without the category unknown: {categories}")
    report = msleaks.report(folder)
    equal("peak", snapshot["msleaks"]["peak_bytes"], report.peak_bytes)
    findings = [(each["id"], each["bytes"], each.get("module")) for each in report.json["findings"]]
    equal("findings", [(each["id"], each["bytes"], each.get("module")) for each in snapshot["msleaks"]["findings"]], findings)
    return snapshot, dict(zip(snapshot["msleaks"]["devices"], lanes)), report


def frames_with(snapshot, name):
    return [frame for events in snapshot["device_traces"] for event in events for frame in event.get("frames", []) if name in frame["name"]]


def expect_program(msleaks, scratch):
    source, program = HERE / "programs/kept.cpp", scratch / "kept"
    msleaks.compile(source, program)
    msleaks.run(scratch / "kept-run", [program], options=["--no-report"])
    snapshot, lanes, report = read(msleaks, scratch / "kept-run")
    equal("lanes", list(lanes), ["host memory"])
    equal("peak of the host", lanes["host memory"].peak, report.peak_bytes)
    alive = report.json["leaks"]["bytes"] + report.json["leaks"]["suppressed"]["bytes"]
    equal("memory at the end", lanes["host memory"].bytes_of(lanes["host memory"].live), alive)
    lost = [event for event in lanes["host memory"].live.values() if event["size"] == 100_000]
    lines = [frame["line"] for frame in lost[0]["frames"]][:3]
    equal("lines of the lost block", lines, [line_of(source, "made here"), line_of(source, "= make("), line_of(source, "grow(100")])
    check(all("category" not in event for event in snapshot["device_traces"][0]), "a program without tensors has categories")


def expect_hostile_names(msleaks, scratch):
    for number, name in enumerate(HOSTILE):
        folder = scratch / f"hostile-{number}"
        msleaks.run(folder, [shutil.which("python3"), "-B", HERE / "programs/hostile.py", name], options=["--no-report"])
        snapshot, lanes, report = read(msleaks, folder)
        written = name.replace("\n", "\\x0a").replace("\x1b", "\\x1b")[:1024]  # a trace keeps so much of a name
        check(any(frame["name"] == written for frame in frames_with(snapshot, written[:4])), f"{written[:20]} is in no frame")
        equal("peak of the host", lanes["host memory"].peak, report.peak_bytes)


def expect_devices(msleaks, scratch):
    """PyTorch's allocator for CUDA: the driver's blocks are segments, and the tensors are blocks in them."""
    folder = scratch / "tensors"
    program = build_program(TENSORS, str(folder), "-DPYTORCH_SUM=size_t")
    msleaks.run(folder / "run", [program], options=["--no-report"])
    snapshot, lanes, report = read(msleaks, folder / "run")
    equal("lanes", list(lanes), ["device 0", "host memory"])
    equal("peak of the tensors", lanes["device 0"].peak, report.heap_peak_bytes("pool"))
    equal("peak of the segments", lanes["device 0"].segments_peak, report.heap_peak_bytes("device"))
    for event in snapshot["device_traces"][0]:
        if event["action"] == "alloc":
            check(any(each["addr"] <= event["addr"] < each["addr"] + each["size"] for each in snapshot["device_traces"][0]
                      if each["action"] == "segment_alloc"), "a tensor is in no segment")


def expect_tensors(msleaks, scratch):
    if run([PYTHON, "-c", "import torch"]).returncode != 0:
        return print("no PyTorch on this machine, so categories are not tested")
    msleaks.run(scratch / "torch", [PYTHON, "-B", TRAINING, "optimizer"], options=["--no-report"])
    snapshot, lanes, report = read(msleaks, scratch / "torch")
    lane = lanes["host memory"]
    equal("peak of the host", lane.peak, report.peak_bytes)
    sums, wanted = Counter(), Counter()
    at_peak = Lane.at_peak(snapshot["device_traces"][0], lane.peak_index)
    for event in at_peak:
        sums[event["category"]] += event["size"]
    for kind, bytes_, *_ in report.rows("tensor_kinds"):
        wanted[CATEGORIES[kind]] += bytes_
    del sums["unknown"]
    equal("bytes of each category at the peak", sums, wanted)
    modules = {event["user_metadata"] for event in at_peak if "module" in event["user_metadata"]}
    check(modules, "no block names its module")


def expect_refusals(msleaks, folder):
    for options, message in (["--at", "peak"], "no moment"), (["--of", "leaks"], "no choice of blocks"):
        done = run([msleaks.bin / "msleaks", "export", folder, "--format", "pytorch", *options])
        equal(f"status of {options}", (done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
        check(message in done.stderr, done.stderr)


def main():
    build, scratch = arguments("build", "scratch")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    expect_program(msleaks, scratch)
    expect_refusals(msleaks, scratch / "kept-run")
    expect_hostile_names(msleaks, scratch)
    expect_devices(msleaks, scratch)
    expect_tensors(msleaks, scratch)


if __name__ == "__main__":
    main()
