"""Measures the cost of reading which pages of large blocks are touched. Compares whole programs with and without this reading,
and measures the time to read the pages of many blocks once."""
from measure import measured, output_of

GOAL = 1.01  # largest ratio: a recorded program's time without options, to its time with --access calls


class PagesCost:
    def __init__(self, bench):
        self.bench = bench
        self.blocks, self.bytes = (10_000, 102 * 4096) if bench.scale >= 1 else (100, 16 * 4096)

    def run(self):
        for name, commands in self.bench.workloads():
            self.program(name, commands["instrumented"].split())
        self.look()

    def program(self, name, command):
        """Compares the real time of a recorded program, and the processor time of the program and msleaks-run together."""
        def recorded(*options):
            def way():
                words, folder = self.bench.session(*options)
                seen = measured([*words, *command])
                self.bench.discard(folder)
                return {clock: seen[clock] for clock in ("wall_s", "cpu_s")}
            return way

        off = ("--access", "calls")
        seen = self.bench.medians({"calls": recorded(*off), "pages": recorded(), "again": recorded(*off)}, pick=min)
        for clock, words in (("wall_s", "time"), ("cpu_s", "CPU time, msleaks-run's too")):
            calls, pages, again = (seen[way][clock] for way in ("calls", "pages", "again"))
            noise = abs(again / calls - 1)
            self.bench.table.add(f"{name}: {words} / with --access calls", calls, pages, pages / calls,
                                 GOAL + noise if clock == "wall_s" else None, "s")

    def look(self):
        words = output_of([self.bench.program("bench_looking"), self.blocks, self.bytes]).split()
        size = f"{self.blocks:,} blocks, {self.blocks * self.bytes / (1 << 30):.1f} GiB"
        took = {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}
        for state, name in (("half", "every other page touched"), ("whole", "all touched")):
            self.bench.table.add(f"one look at {size}: {name} / nothing touched", took["untouched"], took[state],
                                 took[state] / max(took["untouched"], 1e-3), None, "ms")
