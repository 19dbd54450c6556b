"""Measures the cost of call paths:

    the time of a step of a PyTorch training, also with memray and heaptrack
    the size of the trace
    the time of the report
    the time to find the names of calls"""
import shutil
import statistics
import struct
import time
from pathlib import Path

from measure import Failed, Skipped, measured, output_of, printed_cost

HERE = Path(__file__).resolve().parent
PYTORCH = HERE / "workloads" / "pytorch"
PYTHON = "/usr/bin/python3"  # Debian installs python3-torch for this interpreter
STEP, TRACE_BYTES, REPORT, NAMES, NAMES_S = 1.10, 2.0, 1.10, 10_000, 5.0  # goals: ratios of a step and of a report, bytes that paths add to an event, and seconds to name NAMES calls

FILE_HEADER_BYTES = 32
CHUNK = struct.Struct("<8xHHIIIQIII")  # fields: kind, codec, process, stream, events, position, slots, raw bytes, stored bytes
CHUNK_BYTES, CALLERS, EVENTS, NAMED, PATHS = 80, 4, 5, 10, 11


def chunk_bytes(trace):
    """Returns ({kind: bytes of its chunks, with their headers}, number of events) for a trace (docs/trace-format.md)."""
    content, sizes, events, at = trace.read_bytes(), {}, 0, FILE_HEADER_BYTES
    while at < len(content):
        kind, _, _, _, there, _, _, _, stored = CHUNK.unpack_from(content, at)
        sizes[kind] = sizes.get(kind, 0) + CHUNK_BYTES + stored
        events += there if kind == EVENTS else 0
        at += CHUNK_BYTES + stored
    return sizes, events


class PathCost:
    def __init__(self, bench):
        self.bench, self.table, self.check = bench, bench.table, bench.scale < 1

    def run(self):
        self.pairs()
        self.pytorch()
        if not self.check:
            self.programs()

    # -- one program, recorded with and without paths ---------------------------------------------------------------

    def recorded(self, command, ways=("none", "all")):
        """Records a command once for each way (a value of --call-stack). Returns {way: folder of the run}."""
        return {way: self.bench.under_session(command, "--call-stack", way)[1] for way in ways}

    def compare(self, name, folders):
        """Compares the traces and reports of the two runs, and removes their folders."""
        self.compare_traces(name, folders)
        self.compare_reports(name, folders)
        for folder in folders.values():
            self.bench.discard(folder)

    def compare_traces(self, name, folders):
        """Compares the sizes of two traces. The number of events in a chunk depends on the load of the collector. So
        bench_trace first writes both traces again, in chunks of equal size."""
        each, counted = {}, {}
        for way, folder in folders.items():
            sizes, events = chunk_bytes(folder / "trace.mslt")
            written = output_of([self.bench.program("bench_trace"), folder]).splitlines()[2].split("|")
            each[way] = {"events": float(written[4]), "calls": (sizes.get(CALLERS, 0) + sizes.get(PATHS, 0)) / events}
            counted[way] = events, sizes.get(NAMED, 0)
        bare, full = (sum(each[way].values()) for way in ("none", "all"))
        self.table.add(f"trace of {name}: bytes / event without paths, and with", bare, full, full / bare, None, "B")
        self.table.add(f"trace of {name}: bytes that paths add / event", 1, full - bare, full - bare, TRACE_BYTES, "B")
        calls, more = (each["all"][part] - each["none"][part] for part in ("calls", "events"))
        self.table.note(f"trace of {name}: of these bytes",
                        f"{calls:.2f} for the calls, {more:.2f} for events that name them; {counted['all'][0]:,} events, "
                        f"{counted['all'][1] - counted['none'][1]:,} B of names once")

    def compare_reports(self, name, folders):
        def seconds(folder):
            return lambda: measured([self.bench.program("msleaks"), "report", folder])["cpu_s"]

        cost = self.bench.medians({way: seconds(folder) for way, folder in folders.items()})
        self.table.add(f"report of {name}, CPU: with paths / without", cost["none"], cost["all"], cost["all"] / cost["none"],
                       REPORT, "s")

    def pairs(self):
        """Measures the cost of a path in an event, by a program in which each allocation has the same path of ten calls."""
        pairs, live = self.bench.scaled(4_000_000), 100_000
        command = [self.bench.program("bench_pairs"), 10, pairs, 1, live]
        folders = self.recorded(command)
        self.debug_information(folders["none"])
        self.compare(f"malloc+free, {2 * pairs / 1e6:.3g} M events", folders)

    def debug_information(self, run):
        """Measures the time to name calls from debug information. A distribution's PyTorch has none, so the program is msleaks
        itself, with 32 MB of debug information."""
        folder = self.recorded([self.bench.program("msleaks"), "report", run, "--json"], ["all"])["all"]
        self.names("msleaks, which has debug information", folder)
        self.bench.discard(folder)

    def programs(self):
        for script in sorted((HERE / "workloads").glob("*/bench.sh")):
            try:
                command = self.bench.workload(script)["instrumented"].split()
            except Skipped as reason:
                self.table.note(f"{script.parent.name} with paths", f"skipped: {reason}")
            else:
                self.compare(script.parent.name, self.recorded(command))

    # -- PyTorch ---------------------------------------------------------------------------------------------------

    def pytorch(self):
        try:
            output_of([PYTHON, "-c", "import torch"])
        except Failed:
            self.table.note("PyTorch", f"skipped: {PYTHON} has no PyTorch; python3-torch brings it")
            return
        steps, warm_up = (2, 1) if self.check else (100 if self.bench.scale == 1 else 200, 20)
        command = ["-B", PYTORCH / "steps.py", steps, warm_up]
        self.steps(command, {} if self.check else self.peers(command))
        folders = self.recorded([PYTHON, *command], ["all"] if self.check else ["none", "all"])
        self.names("PyTorch", folders["all"])
        if not self.check:
            self.compare("PyTorch", folders)

    def peers(self, command):
        """Returns {name: words that run the command under this tool}, for heaptrack and memray. If a tool is missing, adds a note
        to the table."""
        peers = {}
        try:
            python = output_of([PYTORCH / "fetch_memray.sh"], skipped=77).strip()
            peers["memray run --native"] = [python, "-m", "memray", "run", "--native", "-q", "-f", "-o",
                                            self.bench.scratch / "memray.bin", *command[1:]]
        except (Skipped, Failed) as reason:
            self.table.note("PyTorch: memray", f"not installed: {reason}")
        if shutil.which("heaptrack"):
            peers["heaptrack"] = ["heaptrack", "-o", self.bench.scratch / "heaptrack", PYTHON, *command]
        else:
            self.table.note("PyTorch: heaptrack", "not installed")
        return peers

    def steps(self, command, peers):
        """Compares the least times of a step, because other work on the machine can only make a step longer."""
        def timed(words):
            begin = time.monotonic()
            text = output_of(words)
            return dict(printed_cost(text, "step"), whole=time.monotonic() - begin)

        def recorded(paths):
            def way():
                words, folder = self.bench.session("--call-stack", paths)
                cost = timed([*words, PYTHON, *command])
                self.bench.discard(folder)
                return cost
            return way

        which = ("none", "auto") if self.check else ("none", "auto", "all")
        ways = {"plain": lambda: timed([PYTHON, *command])}
        ways |= {f"msleaks-run --call-stack {paths}": recorded(paths) for paths in which}
        ways |= {name: lambda words=words: timed(words) for name, words in peers.items()}
        ways["plain, again"] = ways["plain"]
        cost = self.bench.medians(ways, pick=min)
        step = "step of a PyTorch training"
        for clock, what, unit in (("cpu", f"{step}, CPU", "ms"), ("wall", f"{step}, wall", "ms"),
                                  ("whole", "the whole training, wall", "s")):
            plain, again = cost["plain"][clock], cost["plain, again"][clock]
            for name in list(ways)[1:]:
                goal = STEP + abs(again / plain - 1) if unit == "ms" and name.endswith(("auto", "all")) else None
                self.table.add(f"{what}: {name} / plain", plain, cost[name][clock], cost[name][clock] / plain, goal, unit)

    def names(self, what, folder):
        """Measures the time to name the first 10,000 different calls of a run from the images, as if the trace had no names."""
        said = [output_of([self.bench.program("bench_names"), folder, NAMES]).split() for _ in range(self.bench.rounds)]
        calls, images, seconds = int(said[0][1]), said[0][3], statistics.median(float(words[5]) for words in said)
        goal = NAMES_S * calls / NAMES
        self.table.add(f"naming {calls:,} calls of {what}, in {images} images: {NAMES_S:g} s for {NAMES:,} / needed", goal, seconds,
                       seconds / goal, 1.0, "s")
