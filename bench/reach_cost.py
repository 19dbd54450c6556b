"""Measures the cost of the search for pointers to blocks at the exit of a process (--reach). The base is LeakSanitizer, which
searches for pointers to its own blocks. Also measures short processes without blocks."""
import os
import subprocess
import time
from pathlib import Path

from measure import Failed, output_of

HERE = Path(__file__).resolve().parent
SECONDS, LATER = 3.0, 2.0  # goals: seconds for 1 GiB; for a short process, ratio of the times with and without reading its memory


class ReachCost:
    def __init__(self, bench):
        self.bench = bench
        self.blocks, self.bytes = (1 << 20, 1024) if bench.scale >= 1 else (1 << 12, 1024)
        self.times = 20 if bench.scale >= 1 else 2
        self.plain, self.lsan = bench.program("bench_held"), bench.scratch / "held-lsan"

    def run(self):
        size = f"{self.blocks * self.bytes >> 20} MiB in {self.blocks:,} blocks"
        ways = {"ours": self.recorded}
        if self.builds_lsan():
            ways["lsan"] = self.lsan_added
        else:
            self.bench.table.note("reach: LeakSanitizer", "clang has none here, or may not stop threads")
        seen = self.bench.medians(ways)
        ours = seen["ours"]
        if "lsan" in seen:
            self.bench.table.add(f"reach, {size}: later end of the program, ours / LeakSanitizer", seen["lsan"],
                                 ours["end"], ours["end"] / seen["lsan"], None, "s")
        total = ours["end"] + ours["report"]
        self.bench.table.add(f"reach, {size}: later end of program and report / 3 s", SECONDS, total, total / SECONDS, 1.0, "s")
        short = self.bench.medians({"off": lambda: self.short("off"), "on": lambda: self.short("on")})
        self.bench.table.add("reach: a process that ends at once, read / not read", short["off"], short["on"],
                             short["on"] / short["off"], LATER, "ms")

    def builds_lsan(self):
        source = HERE / "reach" / "held.c"
        for compiler in ("clang-22", "clang-19", "clang", "gcc"):
            try:
                output_of([compiler, "-g", "-O2", "-fsanitize=leak", source, "-o", self.lsan])
                output_of([self.lsan, 1, 8])
                return True
            except Failed:
                continue
        return False

    def recorded(self):
        """Returns the seconds that reading the memory adds to the end of a recorded program, and to its report."""
        ends, reports = [], []
        for reach in ("on", "off"):
            words, folder = self.bench.session("--reach", reach, "--reach-max", str(1 << 40))
            ends.append(self.end_of([*words, self.plain, self.blocks, self.bytes]))
            reports.append(self.report(folder))
            self.bench.discard(folder)
        return {"end": max(ends[0] - ends[1], 0), "report": max(reports[0] - reports[1], 0)}

    def lsan_added(self):
        command = [self.lsan, self.blocks, self.bytes]
        return self.end_of(command) - self.end_of(command, LSAN_OPTIONS="detect_leaks=0")

    def report(self, folder):
        begin = time.monotonic()
        subprocess.run([self.bench.program("msleaks"), "report", folder], stdout=subprocess.DEVNULL, check=False)
        return time.monotonic() - begin

    def end_of(self, command, **environment):
        """Returns the seconds from the program's last line to the end of the command."""
        child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 env={**os.environ, **environment})
        child.stdout.readline()
        begin = time.monotonic()
        child.stdout.read()  # returns when all processes have closed their stdout
        seconds = time.monotonic() - begin
        if child.wait() != 0:
            raise Failed(f"{command}: exit {child.returncode}")
        return seconds

    def short(self, reach):
        """Returns the milliseconds of one short process. A shell starts several such processes, one after the other."""
        words, folder = self.bench.session("--reach", reach)
        script = f"for i in $(seq {self.times}); do {self.plain} 0 > /dev/null; done"
        begin = time.monotonic()
        output_of([*words, "sh", "-c", script])
        self.bench.discard(folder)
        return (time.monotonic() - begin) * 1000 / self.times
