"""Measures the time and the trace size that a session adds to a forked child. The process has 500 KB of tables of sites, and
forks a thousand children, one after the other."""
import sys
from pathlib import Path

from measure import output_of, printed_cost

HERE = Path(__file__).resolve().parent
TIME, TRACE_BYTES = 1.1, 2048  # goals: ratio of the times with and without a session, bytes of trace for a child
WORK = ((0, "that ends at once"), (10, "with 10 M additions"))


class ForkCost:
    def __init__(self, bench):
        self.bench = bench
        self.children, self.tables = (1000, 0.8) if bench.scale >= 1 else (20, 0.02)
        self.plain, self.instrumented = bench.scratch / "forks-plain", bench.scratch / "forks-instrumented"

    def run(self):
        self.build()
        for work, what in WORK:
            self.compare(work, f"fork's child {what}")
        self.trace()

    def build(self):
        dense = self.bench.scratch / "forks-dense.cpp"
        dense.write_text(output_of([sys.executable, HERE / "workloads" / "dense" / "generate.py", self.tables]))
        for program, options in ((self.plain, ["--msl-off"]), (self.instrumented, [])):
            output_of([self.bench.program("msleaks-clang++"), *options, "-O1", "-w", dense,
                            HERE / "forks" / "forks.cpp", "-o", program])

    def compare(self, work, what):
        def recorded():
            text, folder = self.bench.under_session([self.instrumented, self.children, work])
            self.bench.discard(folder)
            return printed_cost(text, "child")

        seen = self.bench.medians({
            "plain": lambda: printed_cost(output_of([self.plain, self.children, work]), "child"),
            "ours": recorded})
        for clock, name in (("cpu", "CPU"), ("wall", "wall")):
            plain, ours = seen["plain"][clock], seen["ours"][clock]
            self.bench.table.add(f"{what}, {name}: under msleaks-run / plain", plain, ours, ours / plain, TIME, "us")

    def trace(self):
        each = (self.trace_bytes(self.children) - self.trace_bytes(0)) / self.children
        self.bench.table.add("fork's child: bytes of trace / 2 KiB", TRACE_BYTES, each, each / TRACE_BYTES, 1.0, "B")

    def trace_bytes(self, children):
        _, folder = self.bench.under_session([self.instrumented, children, 0])
        size = (folder / "trace.mslt").stat().st_size
        self.bench.discard(folder)
        return size
