#!/usr/bin/env python3
"""Exports recorded runs as perfetto and chrome. The counters, steps, launches, findings and profiles must be those of
`msleaks report --json` and `msleaks dump --json`.

    timeline_test.py BUILD SCRATCH
"""
import json
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "devices")]
from device_run import events_of  # noqa: E402
from formats_test import fields_of  # noqa: E402
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, run  # noqa: E402
from recorded import SHOWN, record_cuda, record_marks  # noqa: E402


class Timeline:
    """The content of a file, in the same form for both formats. Times are relative to the start of the session."""

    def __init__(self):
        self.peaks, self.last = Counter(), {}
        self.launches, self.marks, self.steps, self.findings, self.profiles = [], [], [], [], {}

    def point(self, name, bytes_):
        self.peaks[name] = max(self.peaks[name], bytes_)
        self.last[name] = bytes_


def facts_of(event):
    facts = {}
    for fact in map(fields_of, event.get(4, [])):
        facts[fact[10][0].decode()] = fact[3][0] if 3 in fact else fact[6][0].decode()
    return facts


class PerfettoFile(Timeline):
    def __init__(self, file):
        super().__init__()
        self.tracks, self.names, self.callstacks, self.open = {}, {}, {}, {}
        for number, packet in enumerate(map(fields_of, fields_of(file.read_bytes())[1])):
            equal("sequence", (packet[10], packet[13]), ([1], [2 if number else 3]))
            for data in map(fields_of, packet.get(12, [])):
                self.names |= {name[1][0]: name[2][0].decode() for name in map(fields_of, data.get(2, []))}
                self.callstacks |= {stack[1][0]: stack.get(2, []) for stack in map(fields_of, data.get(7, []))}
            for track in map(fields_of, packet.get(60, [])):
                self.tracks[track[1][0]] = track
            for event in map(fields_of, packet.get(11, [])):
                self.event(packet[8][0], event)
            for profile in map(fields_of, packet.get(37, [])):
                self.profile(profile)
        equal("open slices", [times for times in self.open.values() if times], [])

    def name_of(self, number):
        return self.tracks[number].get(2, [b""])[0].decode()

    def event(self, time, event):
        kind, track = event[9][0], event[11][0]
        name = self.names.get(event.get(10, [0])[0])
        if kind == 4:
            check(fields_of(self.tracks[track][8][0])[3] == [3], "a counter does not count bytes")
            return self.point(self.name_of(track), event[30][0])
        if kind == 3:
            check(4 in self.tracks[track], "a moment belongs to no thread")
            return (self.launches if "grid" in facts_of(event) else self.marks).append((name, facts_of(event), time))
        if kind == 1:
            return self.open.setdefault(track, []).append((name, facts_of(event), time))
        begun = self.open[track].pop()
        return (self.findings if self.name_of(track) == "findings" else self.steps).append((*begun, time))

    def profile(self, profile):
        for dump in map(fields_of, profile[5]):
            samples = [fields_of(sample) for sample in dump[2]]
            check(all(self.callstacks[sample[1][0]] for sample in samples), "a sample has no path")
            name = dump[11][0].decode()
            self.profiles[name] = self.profiles.get(name, 0) + sum(sample[2][0] for sample in samples)


class ChromeFile(Timeline):
    def __init__(self, file):
        super().__init__()
        for event in json.loads(file.read_text())["traceEvents"]:
            if event["ph"] == "C":
                self.point(event["name"], event["args"]["bytes"])
            elif event["ph"] == "i":
                (self.launches if event["cat"] == "launch" else self.marks).append((event["name"], event["args"], round(event["ts"] * 1000)))
            elif event["ph"] == "X":
                times = [round(time * 1000) for time in (event["ts"], event["ts"] + event["dur"])]
                (self.steps if event["cat"] == "step" else self.findings).append((event["name"], event["args"], *times))


def export(msleaks, folder, name):
    file = Path(f"{folder}.{name}")
    done = run([msleaks.bin / "msleaks", "export", folder, "--format", name, "-o", file])
    equal(f"{name}: status and output", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return file


def peaks_of(report):
    peaks = {"memory in use": report.json["peak"]["bytes"]}
    for heap in report.json["peak"]["by_heap"]:
        if not heap["by_device"]:
            peaks[f"heap {heap['heap']}"] = heap["bytes"]
        for device in heap["by_device"]:
            peaks[f"heap {heap['heap']} on device {device['device']}"] = device["bytes"]
    return peaks


def read(msleaks, folder):
    """Reads both formats, and compares them with each other and with the report."""
    report = msleaks.report(folder)
    perfetto, chrome = PerfettoFile(export(msleaks, folder, "perfetto")), ChromeFile(export(msleaks, folder, "chrome"))
    for timeline in perfetto, chrome:
        equal("peaks", dict(timeline.peaks), peaks_of(report))
        equal("memory after all processes", set(timeline.last.values()), {0})
        equal("findings", {(facts["id"], facts["bytes"]) for _, facts, *_ in timeline.findings},
              {(each["id"], each["bytes"]) for each in report.json["findings"][:100]})
    equal("profiles", perfetto.profiles, peaks_of(report))
    for what in "launches", "marks", "steps":
        equal(what, [event[:2] for event in getattr(chrome, what)], [event[:2] for event in getattr(perfetto, what)])
    start = report.json["session"]["start_ns"]
    equal("times of launches", [event[2] for event in chrome.launches], [event[2] - start for event in perfetto.launches])
    return perfetto


def expect_devices(msleaks, scratch):
    folder, _ = record_cuda(msleaks, scratch)
    timeline = read(msleaks, folder)
    launches = events_of(msleaks, folder, "launch")
    check(launches, "the program has no launches")
    equal("times of launches", [time for _, _, time in timeline.launches], [event["time_ns"] for event in launches])
    grids = [facts["grid"] for _, facts, _ in timeline.launches]
    equal("grids", grids, [f"{event['grid_x']}x{event['grid_y']}x{event['grid_z']}" for event in launches])
    steps = events_of(msleaks, folder, "step")
    check(len(steps) > 1, "the program has no steps")
    equal("steps", [(facts["number"], begin) for _, facts, begin, _ in timeline.steps], [(event["number"], event["time_ns"]) for event in steps])
    equal("ends of steps", [end for *_, end in timeline.steps[:-1]], [event["time_ns"] for event in steps[1:]])


def expect_hostile_names(msleaks, scratch):
    timeline = read(msleaks, record_marks(msleaks, scratch))
    equal("names of marks", [name[:1000] for name, *_ in timeline.marks], [name[:1000] for name in SHOWN])


def expect_refusals(msleaks, folder):
    for name in "perfetto", "chrome":
        for options in ["--at", "peak"], ["--of", "leaks"]:
            done = run([msleaks.bin / "msleaks", "export", folder, "--format", name, *options])
            equal(f"{name} {options}", (done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))


def main():
    build, scratch = arguments("build", "scratch")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    expect_devices(msleaks, scratch)
    expect_hostile_names(msleaks, scratch)
    expect_refusals(msleaks, scratch / "marks-run")


if __name__ == "__main__":
    main()
