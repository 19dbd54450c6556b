#!/usr/bin/env python3
"""Tests that exports show kernel evidence beside the rows of its threads: each call, sleep and fault with its times.

    export_test.py BUILD SCRATCH
"""
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from kernel_run import KernelRuns, check

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from ctf_test import LINE  # noqa: E402
from formats_test import fields_of  # noqa: E402

KINDS = {"Syscall": None, "OffCpu": "off-cpu", "Fault": "fault"}  # the names in a timeline; None: that of the call


def export(runs, folder, name):
    path = runs.scratch / f"exported.{name}"
    done = subprocess.run([runs.bin / "msleaks", "export", folder, "--format", name, "-o", path], capture_output=True, text=True)
    check(done.returncode == 0, f"{name}: exit status {done.returncode}: {done.stderr}")
    return path


def wanted_slices(events):
    """Returns how often there is each (pid, tid, name, duration)."""
    return Counter((each["pid"], each["tid"], KINDS[each["event"]] or each["name"], each["duration_ns"]) for each in events)


def chrome_slices(path):
    slices = [each for each in json.loads(path.read_text())["traceEvents"] if each.get("cat") == "kernel"]
    return Counter((each["pid"], each["tid"], each["name"], round(each["dur"] * 1000)) for each in slices)


def perfetto_slices(path):
    """A row of the kernel has the row of the thread as its parent."""
    tracks, names, opened, slices = {}, {}, {}, Counter()
    for packet in map(fields_of, fields_of(path.read_bytes())[1]):
        for data in map(fields_of, packet.get(12, [])):
            names |= {name[1][0]: name[2][0].decode() for name in map(fields_of, data.get(2, []))}
        for track in map(fields_of, packet.get(60, [])):
            tracks[track[1][0]] = track
        for event in map(fields_of, packet.get(11, [])):
            row = tracks[event[11][0]]
            if row.get(2) != [b"kernel"]:
                continue
            if event[9][0] == 1:
                opened[event[11][0]] = (names[event[10][0]], packet[8][0])
            else:
                name, begin = opened.pop(event[11][0])
                thread = fields_of(tracks[row[5][0]][4][0])
                slices[thread[1][0], thread[2][0], name, packet[8][0] - begin] += 1
    check(not opened, "a slice has no end")
    return slices


def ctf_calls(path):
    done = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", path], capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, f"babeltrace2: {done.stderr}")
    calls, last = Counter(), 0
    for line in done.stdout.splitlines():
        time, name, pid, tid, fields = LINE.fullmatch(line).groups()
        check(int(time) >= last, "the time goes back")
        last = int(time)
        if name == "Syscall":
            calls[int(pid), int(tid)] += 1
    return calls


def main():
    runs = KernelRuns()
    runs.need("syscalls", "sched", "faults")
    program = runs.compile("calls.c")
    _, folder = runs.run("run", "syscalls,sched,faults", [program])
    events = runs.events(folder, "syscall,off-cpu,fault")
    wanted = wanted_slices(events)
    check({name for _, _, name, _ in wanted} >= {"getppid", "off-cpu", "fault"}, "there is nothing to export")
    for name, seen in (("chrome", chrome_slices(export(runs, folder, "chrome"))), ("perfetto", perfetto_slices(export(runs, folder, "perfetto")))):
        check(seen == wanted, f"{name}: missing {wanted - seen}, too many {seen - wanted}")
    if shutil.which("babeltrace2"):
        calls = Counter((each["pid"], each["tid"]) for each in events if each["event"] == "Syscall")
        seen = ctf_calls(export(runs, folder, "ctf"))
        check(seen == calls, f"ctf: calls of threads {seen}, not {calls}")


if __name__ == "__main__":
    main()
