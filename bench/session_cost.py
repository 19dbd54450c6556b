"""Measures two costs of a session. One is the time from the end of the program to the end of the short report. The other is the
processor time of `msleaks top` while it shows a running session."""
import os
import pty
import signal
import statistics
import subprocess
import time

from measure import Failed, last_number

END_S, CORE = 0.1, 0.02  # goals: seconds from the end of the program to the report, and share of a core


class SessionCost:
    def __init__(self, bench):
        self.bench = bench
        self.paced = bench.program("bench_paced")
        self.rounds = min(bench.rounds, 3)  # a round takes as long as its program

    def run(self):
        pairs = self.bench.scaled(10_000_000)
        for way, options, goal in (("begun while it ran", [], 1.0), ("all at the end", ["--analyze-at-end"], None)):
            seconds = statistics.median(self.end_of(pairs, options) for _ in range(self.rounds))
            self.bench.table.add(f"short report after {2 * pairs / 1e6:g} M events at 1 M/s, {way}: program's end to ours / goal",
                                 END_S, seconds, seconds / END_S, goal, "s")
        for live in (1_000, 100_000):
            for way, options, goal in (("told by msleaks-run", [], 1.0), ("reading the trace", ["--analyze-at-end"], None)):
                share = self.top_beside(live, options)
                self.bench.table.add(f"top beside 1 M events/s, {live:,} blocks alive, {way}: share of a core / goal",
                                     CORE, share, share / CORE, goal, "cores")

    def end_of(self, pairs, options):
        folder = self.bench.scratch / "ends"
        command = [self.bench.program("msleaks-run"), *options, "-o", folder, "--", self.paced, pairs, 500]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if done.returncode != 0 or "peak" not in done.stderr:
            raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr[-300:]}")
        self.bench.discard(folder)
        return (ended - last_number(done.stdout)) / 1e9

    def top_beside(self, live, options):
        seconds = max(1, int(2 * self.bench.scale * 5))
        folder = self.bench.scratch / "watched"
        command = [self.bench.program("msleaks-run"), *options, "-o", folder, "--", self.paced, (seconds + 2) * 500_000, 500, live]
        program = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (folder / "trace.mslt").exists() and program.poll() is None:
            time.sleep(0.01)
        time.sleep(0.5)
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(self.bench.program("msleaks"), ["msleaks", "top", str(folder)])
        begin = time.monotonic()
        os.set_blocking(terminal, False)
        while time.monotonic() < begin + seconds:
            time.sleep(0.1)
            try:
                os.read(terminal, 1 << 16)
            except BlockingIOError:
                pass
        os.kill(pid, signal.SIGTERM)
        usage = os.wait4(pid, 0)[2]
        os.close(terminal)
        program.wait()
        self.bench.discard(folder)
        return (usage.ru_utime + usage.ru_stime) / seconds
