#!/usr/bin/env python3
"""Exports recorded runs as ctf. babeltrace2 must read the events of `msleaks dump --json`, and blocks whose sums are the peaks of
`msleaks report --json`. Without babeltrace2, the test is skipped.

    ctf_test.py BUILD SCRATCH
"""
import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "devices")]
from device_run import events_of  # noqa: E402
from msleaks_e2e import Msleaks, arguments, empty_folder, equal, line_of, need, run  # noqa: E402
from recorded import SHOWN, record_cuda, record_marks  # noqa: E402
from timeline_test import peaks_of  # noqa: E402

LINE = re.compile(r"\[0*(\d+)\] (\w+): \{ pid = (\d+), tid = (\d+) \}, \{ (.*) \}")
FIELD = re.compile(r'(\w+) = (?:\( "((?:[^"\\]|\\.)*)" : container = (\d+) \)|(0x[0-9A-Fa-f]+|\d+))(?:, |$)')
PHYSICAL = {"host", "mapping", "device", "pinned", "managed"}


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text)


class Trace:
    def __init__(self, msleaks, folder):
        self.folder = Path(f"{folder}.ctf")
        done = run([msleaks.bin / "msleaks", "export", folder, "--format", "ctf", "-o", self.folder])
        equal("status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = run([need("babeltrace2"), "--clock-cycles", "--no-delta", self.folder])
        equal("status and errors of babeltrace2", (done.returncode, done.stderr), (0, ""))
        self.events = []
        for line in done.stdout.splitlines():
            time, name, pid, tid, fields = LINE.fullmatch(line).groups()
            values = {key: unescaped(text) if label else int(number, 0) for key, text, label, number in FIELD.findall(fields)}
            equal("length of the fields", sum(len(match[0]) for match in FIELD.finditer(fields)), len(fields))
            self.events.append((int(time), name, int(pid), int(tid), values))

    def named(self, name):
        return [event for event in self.events if event[1] == name]

    def peaks(self):
        """Returns the peaks of the blocks, by the names of timeline_test.peaks_of()."""
        now, peaks, live = Counter(), Counter(), {}
        for _, name, _, _, block in self.events:
            if name == "block_begin":
                live[block["block"]] = block["bytes"]
            elif name == "block_end":
                equal("bytes at the end", live.pop(block["block"]), block["bytes"])
            else:
                continue
            bytes_ = block["bytes"] if name == "block_begin" else -block["bytes"]
            names = [f"heap {block['heap']}", f"heap {block['heap']} on device {block['device']}"]
            for key in names + ["memory in use"] * (block["heap"] in PHYSICAL):
                now[key] += bytes_
                peaks[key] = max(peaks[key], now[key])
        equal("blocks without an end", live, {})
        return peaks


def read(msleaks, folder):
    report, trace = msleaks.report(folder), Trace(msleaks, folder)
    wanted, peaks = peaks_of(report), trace.peaks()
    equal("peaks", {name: peaks[name] for name in wanted}, wanted)
    lines = map(json.loads, msleaks.output("dump", folder, "--json").splitlines())
    dumped = [(event["time_ns"], event["event"], event["pid"] or 0, event["tid"] or 0) for event in lines]
    recorded = [event[:4] for event in trace.events if not event[1].startswith("block_")]
    equal("events", Counter(name for _, name, *_ in recorded), Counter(name for _, name, *_ in dumped))
    equal("processes and threads", Counter(event[1:] for event in recorded), Counter(event[1:] for event in dumped))
    times = [event[0] for event in trace.events]
    equal("order of time", times, sorted(times))
    return trace


def expect_devices(msleaks, scratch):
    folder, source = record_cuda(msleaks, scratch)
    trace = read(msleaks, folder)
    launches = events_of(msleaks, folder, "launch")
    for key in "grid_x", "block_x", "shared_bytes", "kernel", "stream":
        equal(f"{key} of launches", [event[4][key] for event in trace.named("Launch")], [event[key] for event in launches])
    place = f"{source}:{line_of(source, '// forgotten')}"
    forgotten = [block for *_, block in trace.named("block_begin") if block["place"].startswith(place) and block["heap"] == "device"]
    equal("forgotten blocks", [(block["device"], block["bytes"]) for block in forgotten], [(1, 4096)] * 4)


def expect_hostile_names(msleaks, scratch):
    trace = read(msleaks, record_marks(msleaks, scratch))
    equal("names of marks", [event[4]["label"][:1000] for event in trace.named("Mark")], [name[:1000] for name in SHOWN])


def expect_refusals(msleaks, scratch):
    folder, kept = scratch / "marks-run", scratch / "kept"
    kept.mkdir()
    (kept / "mine").write_text("mine")
    for options in ["--at", "peak", "-o", scratch / "new"], ["--of", "leaks", "-o", scratch / "new"], [], ["-o", kept]:
        done = run([msleaks.bin / "msleaks", "export", folder, "--format", "ctf", *options])
        equal(f"status of {options}", (done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
    equal("the folder that existed", [file.name for file in kept.iterdir()], ["mine"])
    limited = f"trap '' XFSZ; ulimit -f 0; exec {msleaks.bin / 'msleaks'} export {folder} --format ctf -o {scratch / 'full'}"
    done = run(["sh", "-c", limited])
    equal(f"status on a full disk ({done.stderr})", done.returncode, 4)
    left = [file.name for file in scratch.iterdir() if file.name.startswith(".") or file.name in ("new", "full")]
    equal("folders that are left", left, [])


def main():
    build, scratch = arguments("build", "scratch")
    need("babeltrace2")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    expect_devices(msleaks, scratch)
    expect_hostile_names(msleaks, scratch)
    expect_refusals(msleaks, scratch)


if __name__ == "__main__":
    main()
