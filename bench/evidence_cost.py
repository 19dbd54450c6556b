"""Measures what kernel evidence adds to a system call that does nothing, beside strace and perf trace, and counts lost calls."""
import json
import shutil

from measure import Skipped, output_of, printed_cost

PAIRED, MISSED = 4.0, 2.5  # goals: ratio to the bare call, of a recorded call and of a call that is not chosen


class EvidenceCost:
    def __init__(self, bench):
        self.bench = bench
        self.program = bench.program("bench_getppid")
        self.calls = bench.scaled(900000)

    def run(self):
        try:
            output_of([self.bench.program("msleaks"), "collectors", "syscalls"], skipped=1)
        except Skipped:
            self.bench.table.note("getppid(): kernel evidence", "the kernel refuses the collector `syscalls` (msleaks collectors)")
            return
        seen = self.bench.medians({
            "bare": lambda: printed_cost(output_of([self.program, self.calls]), "call"),
            "session": lambda: self.under(),
            "missed": lambda: self.under("--kernel", "syscalls:pause"),
            "paired": lambda: self.under("--kernel", "syscalls"),
            **self.peers()})
        bare = seen.pop("bare")["wall"]
        goals = {"missed": MISSED, "paired": PAIRED}
        for name, cost in seen.items():
            self.bench.table.add(f"getppid(): {name} / bare call", bare, cost["wall"], cost["wall"] / bare, goals.get(name), "ns")
        self.losses()

    def under(self, *options):
        text, folder = self.bench.under_session([self.program, self.calls], *options)
        self.bench.discard(folder)
        return printed_cost(text, "call")

    def peers(self):
        """A peer writes to /dev/null."""
        commands = {"strace": ["strace", "-f", "-o", "/dev/null"], "perf trace": ["perf", "trace", "-o", "/dev/null"]}
        calls = max(self.calls // 30, 1)
        return {name: lambda command=command: printed_cost(output_of([*command, self.program, calls]), "call")
                for name, command in commands.items() if shutil.which(command[0])}

    def losses(self):
        _, folder = self.bench.under_session([self.program, self.calls], "--kernel", "syscalls")
        account = json.loads((folder / "manifest.json").read_text())["kernel"][0]
        self.bench.discard(folder)
        lost = account["ring_full"] + account["map_full"]
        self.bench.table.add("getppid(): calls / calls that were lost", account["entered"], lost, lost / account["entered"], 0.0, "")
