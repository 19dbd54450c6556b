#!/usr/bin/env python3
"""Measures the cost of msleaks and of comparable tools (peers), and prints a table with the ratios.

    bench/run.py [--build build/release] [--quick|--check] [PART …]

Parts: record malloc instrumented stopped forks programs paths compile
trace reading sessions report compare reach pages verify devices profiles
graphs kernels python evidence.

The peers are LTTng-UST for one event, LeakSanitizer for reach, GNU diff for compare, and heaptrack for a malloc+free pair. They
are perf for perf.data, and clang's own instrumentation for graphs. For a PyTorch training the peers are heaptrack and memray (in a
virtual environment in the cache). If a peer is missing, the table has a note.

The compared programs run in turns (a b c, a b c, …), so that other work on the machine affects all of them. Each figure is the
median of their runs. For whole programs, steps of a training, operators, kernels and verify, it is the minimum. Compare only
figures of the same call of run.py. docs/performance.md has the goals.

Exit status 0: all parts were measured; a missed goal is marked in the table, but is no failure. Exit status 2: wrong usage. Exit
status 3: a measured program failed.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from compare_cost import CompareCost
from compile_cost import CompileCost
from device_cost import DeviceCost
from evidence_cost import EvidenceCost
from fork_cost import ForkCost
from graph_cost import GraphCost
from kernel_cost import KernelCost
from lttng_session import LttngSession
from measure import (CALLGRIND, Failed, Skipped, Table, instructions_of, last_number, machine, measured, output_of, pair_cost, sides_cost,
                     picked)
from pages_cost import PagesCost
from path_cost import PathCost
from profile_cost import ProfileCost
from python_cost import PythonCost
from reach_cost import ReachCost
from session_cost import SessionCost
from verify_cost import VerifyCost

HERE = Path(__file__).resolve().parent


class Bench:
    def __init__(self, build, rounds, scale):
        self.build = build
        self.rounds = rounds
        self.scale = scale
        self.table = Table()
        self.scratch = Path(tempfile.mkdtemp(prefix="msleaks-bench-"))
        self.runs = 0

    def scaled(self, count):
        return int(count * self.scale)

    def program(self, name):
        return self.build / "bin" / name

    def session(self, *options):
        """Returns (words, folder): the words that run a command under msleaks-run, and its new run folder."""
        self.runs += 1
        folder = self.scratch / f"run-{self.runs}"
        return [self.build / "bin" / "msleaks-run", "--no-report", *options, "-o", folder, "--"], folder

    def under_session(self, command, *options):
        words, folder = self.session(*options)
        text = output_of([*words, *command])
        return text, folder

    def medians(self, ways, pick=statistics.median):
        """Calls the functions of `ways`, {name: function}, in turns, several times. Returns {name: median of the results}, or the
        result of `pick` instead of the median. A function returns a number, or a dictionary of numbers."""
        seen = {name: [] for name in ways}
        for _ in range(self.rounds):
            for name, way in ways.items():
                seen[name].append(way())
        return {name: picked(values, pick) for name, values in seen.items()}

    def discard(self, folder):
        shutil.rmtree(folder, ignore_errors=True)

    # -- one event -----------------------------------------------------------------------------------------------

    def record(self):
        events = self.scaled(1_000_000)
        with LttngSession() as lttng:
            if not lttng.usable:
                self.table.note("record: LTTng", lttng.reason)
            alone = self.record_on(1, events, lttng)
            for threads in (2, 4, 8):
                together = self.record_on(threads, events // threads, lttng)
            self.table.add("record, no reader: 8 threads / 1 thread", alone, together, together / alone, 1.25)

    def record_on(self, threads, events, lttng):
        program = self.program("bench_record")

        def plain(way):
            return lambda: last_number(output_of([program, way, threads, events]))

        def recorded(*options):
            def way():
                text, folder = self.under_session([program, "msleaks", threads, events], *options)
                self.discard(folder)
                return last_number(text)
            return way

        ways = {"clock": plain("clock"),
                "no reader": recorded("--on-full", "overwrite", "--ring-kib", "8192"),
                "live": recorded("--on-full", "block", "--ring-kib", "8192")}
        if lttng.usable:
            ways["lttng"] = plain("lttng")
        cost = self.medians(ways)
        name = f"record, {threads} thread{'s' if threads > 1 else ''}"
        self.table.add(f"{name}, no reader / clock read", cost["clock"], cost["no reader"], cost["no reader"] / cost["clock"], 1.25)
        self.table.add(f"{name}, live collector / clock read", cost["clock"], cost["live"], cost["live"] / cost["clock"], 2.0)
        if lttng.usable:
            self.table.add(f"{name}, live collector / LTTng-UST", cost["lttng"], cost["live"], cost["live"] / cost["lttng"], 0.2)
        return cost["no reader"]

    # -- malloc + free -------------------------------------------------------------------------------------------

    def malloc(self):
        heaptrack = shutil.which("heaptrack")
        if not heaptrack:
            self.table.note("malloc+free: heaptrack", "not installed")
        for depth in (0, 10, 30):
            self.malloc_at(depth, heaptrack)

    def instrumented(self, depth=10):
        """Compares pairs of instrumented code with pairs that only the hooks record. Both are in one process, and take turns."""
        turns = self.scaled(1000)
        program = self.compiled_sides()

        def recorded(paths):
            def way():
                text, folder = self.under_session([program, depth, turns], "--call-stack", paths)
                self.discard(folder)
                return sides_cost(text)
            return way

        cost = self.medians({"plain": lambda: sides_cost(output_of([program, depth, turns])),
                             "none": recorded("none"), "all": recorded("all")})
        for paths, text in (("none", ""), ("all", ", with paths")):
            hooked, both = (cost[paths][side] - cost["plain"]["hooked"] for side in ("hooked", "instrumented"))
            self.table.add(f"malloc+free, depth {depth}, CPU{text}: added to an instrumented pair / to a hooked one", hooked, both,
                           both / hooked, 1.0)
        try:
            self.instructions_of_pairs(depth, *self.compiled_pairs())
        except Skipped as skipped:
            self.table.note("malloc+free: instructions of a pair", str(skipped))

    def instructions_of_pairs(self, depth, plain, instrumented):
        """Compares the same programs by the instructions of a pair. The difference of two runs leaves out what a program does once."""
        pairs = self.scaled(100_000)

        def of_pair(program, paths):
            def of_run(count):
                if not paths:
                    return instructions_of([*CALLGRIND, program, depth, count])
                words, folder = self.session("--call-stack", paths)
                instructions = instructions_of([*words, *CALLGRIND, program, depth, count])
                self.discard(folder)
                return instructions
            return (of_run(2 * pairs) - of_run(pairs)) / pairs

        alone = of_pair(plain, None)
        for paths, text in (("none", ""), ("all", ", with paths")):
            hooked, both = (of_pair(program, paths) - alone for program in (plain, instrumented))
            self.table.add(f"malloc+free, depth {depth}, instructions{text}: added to an instrumented pair / to a hooked one", hooked,
                           both, both / hooked, 1.0, "")

    def compiled_pairs(self):
        """Compiles bench_pairs without and with the plugin. Returns the paths of both programs."""
        plain, instrumented = self.scratch / "pairs-plain", self.scratch / "pairs-instrumented"
        for program, options in ((plain, ["--msl-off"]), (instrumented, [])):
            output_of([self.program("msleaks-clang"), *options, "-O2", HERE / "malloc" / "pairs.c", "-o", program, "-pthread"])
        return plain, instrumented

    def compiled_sides(self):
        """Compiles the program of sides.c, of which one side is instrumented. Returns its path."""
        clang, sources = [self.program("msleaks-clang"), "-O2"], HERE / "malloc"
        program, sides = self.scratch / "sides", []
        for name, options in (("hooked", ["--msl-off"]), ("instrumented", []), ("sides", ["--msl-off"])):
            source = sources / ("sides.c" if name == "sides" else "side.c")
            sides.append(self.scratch / f"{name}.o")
            output_of([*clang, *options, f"-DSIDE={name}", "-c", source, "-o", sides[-1]])
        output_of([*clang, *sides, "-o", program])
        return program

    def malloc_at(self, depth, heaptrack):
        pairs = self.scaled(2_000_000)
        program = self.program("bench_pairs")

        def plain():
            return pair_cost(output_of([program, depth, pairs]))

        def floor():
            preload = dict(os.environ, LD_PRELOAD=str(self.build / "lib" / "libbench_floor.so"))
            return pair_cost(output_of([program, depth, pairs], env=preload))

        def ours(paths):
            def way():
                text, folder = self.under_session([program, depth, pairs], "--call-stack", paths)
                self.discard(folder)
                return pair_cost(text)
            return way

        def peer():
            text = output_of([heaptrack, "-o", self.scratch / "heaptrack", program, depth, pairs // 10])
            for made in self.scratch.glob("heaptrack*"):
                made.unlink()
            return pair_cost(text)

        ways = {"plain": plain, "floor": floor, "ours": ours("none"), "paths": ours("auto")}
        if heaptrack:
            ways["heaptrack"] = peer
        seen = self.medians(ways)
        for clock in ("cpu", "wall"):
            cost = {name: figure[clock] for name, figure in seen.items()}
            name = f"malloc+free, depth {depth}, {'CPU' if clock == 'cpu' else 'wall'}"
            added = cost["ours"] - cost["plain"]
            self.table.add(f"{name}: under msleaks-run / plain", cost["plain"], cost["ours"], cost["ours"] / cost["plain"], None)
            if clock == "cpu":
                least = cost["floor"] - cost["plain"]
                self.table.add(f"{name}: added / added by a bare clock read and 32-byte store", least, added, added / least, None)
            if heaptrack:
                peer_added = cost["heaptrack"] - cost["plain"]
                self.table.add(f"{name}: added / added by heaptrack", peer_added, added, added / peer_added,
                               1 / 15 if clock == "cpu" else None)
            added = cost["paths"] - cost["plain"]
            self.table.add(f"{name}, with paths: under msleaks-run / plain", cost["plain"], cost["paths"],
                           cost["paths"] / cost["plain"], None)
            if heaptrack:
                self.table.add(f"{name}, with paths: added / added by heaptrack", peer_added, added, added / peer_added,
                               (0.40 if depth == 30 else 0.35) if clock == "cpu" else None)

    def stopped(self):
        """Measures pairs of malloc and free that are not recorded: in instrumented code without a session, and in a session
        with --start-paused."""
        pairs = self.scaled(2_000_000)
        plain, instrumented = self.compiled_pairs()

        def under(program):
            text, folder = self.under_session([program, 0, pairs], "--start-paused")
            self.discard(folder)
            return pair_cost(text)["cpu"]

        cost = self.medians({"plain": lambda: pair_cost(output_of([plain, 0, pairs]))["cpu"],
                             "unarmed": lambda: pair_cost(output_of([instrumented, 0, pairs]))["cpu"],
                             "hooks": lambda: under(plain),
                             "stopped": lambda: under(instrumented)})
        for name, way in (("instrumented, not armed", "unarmed"), ("session stopped, not instrumented", "hooks"),
                          ("session stopped, instrumented", "stopped")):
            self.table.add(f"malloc+free, {name} / plain", cost["plain"], cost[way], cost[way] / cost["plain"], None)

    # -- the collector and its file ------------------------------------------------------------------------------

    def trace(self):
        program = self.program("bench_record")
        per_thread = self.scaled(10_000_000) // 2
        lost = []
        for _ in range(self.rounds):
            text, folder = self.under_session([program, "msleaks", 2, per_thread, 5_000_000],
                                              "--on-full", "drop", "--ring-kib", "8192", "--ring-max-kib", "8192")
            account = self.account(folder)
            lost.append(account["dropped"])
            self.discard(folder)
        for name, dropped in (("median", statistics.median(lost)), ("worst", max(lost))):
            self.table.add(f"collector at 10 M events/s from two threads, {name} of {self.rounds}: dropped / produced",
                           account["produced"], dropped, dropped / account["produced"], 0.0, "events")
        text, folder = self.under_session([self.program("bench_pairs"), 0, self.scaled(1_000_000)])
        self.bytes_per_event("malloc+free", folder)
        self.discard(folder)

    def bytes_per_event(self, what, folder):
        """Measures the size of the events alone, which bench_trace writes to another file. The trace of a short run consists
        mostly of names, sites and its index."""
        written = output_of([self.program("bench_trace"), folder]).splitlines()[2].split("|")
        size, cost = float(written[4]), float(written[5].split()[0])
        self.table.add(f"trace of {what}: bytes / event", 1, size, size, 6, "B")
        self.table.note(f"trace of {what}: encoding and compression", f"{cost:.1f} ns CPU an event")
        account, whole = self.account(folder), (folder / "trace.mslt").stat().st_size
        self.table.note(f"trace of {what}: the whole file", f"{whole:,} B for {account['stored']:,} events")

    def account(self, folder):
        done = subprocess.run([self.build / "bin" / "msleaks", "report", folder, "--json"], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise Failed(f"msleaks report {folder}: exit {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)["events"]

    # -- reading a trace -----------------------------------------------------------------------------------------

    def reading(self):
        """Adds the rows that bench_reading and bench_holding print. These programs compute their medians themselves."""
        def rows(*command):
            for line in output_of([self.program(command[0]), *command[1:]]).splitlines():
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if line.startswith("| ") and any(cell[:1].isdigit() for cell in cells):
                    yield cells

        def number(cell):
            return float(cell.split()[0])

        events = self.scaled(10_000_000)
        for cells in rows("bench_reading", events, 8):
            if len(cells) == 6:
                self.table.add(f"{cells[0]}, an event of {events:,}: with read-ahead / on one thread", number(cells[1]), number(cells[2]),
                               number(cells[2]) / number(cells[1]), None)
            else:
                self.table.add(f"a trace of {cells[2]} is opened {cells[0]}: a GiB / goal", 1, number(cells[4]), number(cells[4]),
                               1.0 if "index" in cells[0] else None, "ms")
        for cells in rows("bench_holding", self.scaled(1_000_000)):
            if "never asked" in cells[0]:
                self.table.add(f"{cells[0]} for interior pointers", number(cells[1]), number(cells[2]), number(cells[2]) / number(cells[1]), None)
            else:
                self.table.note(cells[0], ", ".join(cells[1:]))

    # -- the report ----------------------------------------------------------------------------------------------

    def report(self):
        events = self.scaled(20_000_000)
        for live in (1_000, 100_000, 1_000_000):
            text, folder = self.under_session([self.program("bench_pairs"), 0, events // 2, 1, live])
            cost = measured([self.build / "bin" / "msleaks", "report", folder, "--json"])
            rate = events / cost["wall_s"] / 1e6
            name = f"report of {events // 1_000_000} M events, {live:,} live blocks"
            self.table.add(f"{name}: wanted / reached", 8, rate, 8 / rate, 1.0, "M events/s")
            self.table.note(f"{name}: memory", f"{cost['peak_kib'] / 1024:.0f} MiB")
            self.on_one_core(name, events, folder)
            self.discard(folder)
        self.window(events, 100_000)

    def on_one_core(self, name, events, folder):
        """Measures the report of this run, and `msleaks check` of the run against itself, on one core. So the threads of
        msleaks cannot run at the same time."""
        one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        msleaks, base = self.program("msleaks"), self.scratch / "base.json"
        took = statistics.median(measured([*one, msleaks, "report", folder, "--json"])["wall_s"] for _ in range(self.rounds))
        rate = events / took / 1e6
        self.table.add(f"{name}, on one core: wanted / reached", 5, rate, 5 / rate, 1.0, "M events/s")
        measured([msleaks, "check", folder, "--save", base])
        took = measured([*one, msleaks, "check", folder, "--baseline", base, "--peak", "+2%"])["wall_s"] * 10e6 / events
        self.table.add(f"check of {events // 1_000_000} M events, {name.split(', ')[-1]}, on one core: 10 M of them / 5 s", 5, took, took / 5, 1.0, "s")

    def window(self, events, live):
        """Measures a report about a time window: one hundredth of the run, from its middle on. The report begins to read at the
        last checkpoint before the window."""
        folder = self.scratch / "windowed"
        output_of([self.program("msleaks-run"), "-o", folder, "--", self.program("bench_pairs"), 0, events // 2, 1, live])
        report = [self.program("msleaks"), "report", folder, "--json"]
        whole = subprocess.run([str(word) for word in report], capture_output=True, text=True).stdout
        seconds = json.loads(whole)["session"]["duration_ns"] / 1e9
        window = ["--from", f"{seconds * 0.5:.6f}", "--to", f"{seconds * 0.51:.6f}"]
        took = statistics.median(measured([*report, *window])["wall_s"] for _ in range(self.rounds))
        size = (folder / "trace.mslt").stat().st_size / (1 << 20)
        self.table.add(f"report of 1 % of {events // 1_000_000} M events, {live:,} live blocks, a trace of {size:.0f} MiB: time / goal",
                       1, took, took, 1.0, "s")
        self.discard(folder)

    # -- real programs -------------------------------------------------------------------------------------------

    def workload(self, script):
        """Runs a workload's script, which builds the workload with and without the plugin. The script prints the command for each
        build, as a line `name: words`. Returns these commands."""
        text = output_of([script, self.build], skipped=77)
        return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)

    def workloads(self):
        """Yields the name and the commands of each workload that can be built on this machine."""
        for script in sorted((HERE / "workloads").glob("*/bench.sh")):
            try:
                commands = self.workload(script)
            except Skipped as reason:
                self.table.note(script.parent.name, f"skipped: {reason}")
                continue
            yield script.parent.name, commands

    def programs(self):
        for name, commands in self.workloads():
            self.program_costs(name, commands)

    def paths(self):
        PathCost(self).run()

    def forks(self):
        ForkCost(self).run()

    def evidence(self):
        EvidenceCost(self).run()

    def sessions(self):
        SessionCost(self).run()

    def compare(self):
        CompareCost(self).run()

    def reach(self):
        ReachCost(self).run()

    def pages(self):
        PagesCost(self).run()

    def verify(self):
        VerifyCost(self).run()

    def devices(self):
        DeviceCost(self).run()

    def profiles(self):
        ProfileCost(self).run()

    def graphs(self):
        if self.scale < 1:
            return self.table.note("graphs", "left out of a check: ggml is built five times")
        try:
            GraphCost(self, HERE).run()
        except Skipped as reason:
            self.table.note("graphs", f"skipped: {reason}")

    def kernels(self):
        try:
            KernelCost(self, HERE).run()
        except Skipped as reason:
            self.table.note("kernels", f"skipped: {reason}")

    def python(self):
        PythonCost(self).run()

    def compile(self):
        CompileCost(self).run()

    def program_costs(self, name, commands):
        plain, instrumented = commands["plain"].split(), commands["instrumented"].split()
        folders = []

        def armed(paths):
            def way():
                words, folder = self.session("--call-stack", paths)
                folders.append(folder)
                return measured([*words, *instrumented])["cpu_s"]
            return way

        def stopped():
            words, folder = self.session("--start-paused")
            seconds = measured([*words, *instrumented])["cpu_s"]
            self.discard(folder)
            return seconds

        # Other work on the machine disturbs a run of several seconds, so the least time of several runs is used. The
        # plain program is measured twice, and the difference of both results is the noise. Smaller differences between
        # other results have no meaning.
        cost = self.medians({"plain": lambda: measured(plain)["cpu_s"],
                             "unarmed": lambda: measured(instrumented)["cpu_s"],
                             "armed": armed("auto"),
                             "all": armed("all"),
                             "stopped": stopped,
                             "again": lambda: measured(plain)["cpu_s"]}, pick=min)
        noise = abs(cost["again"] / cost["plain"] - 1)
        self.table.add(f"{name}: plain, measured twice", cost["plain"], cost["again"], cost["again"] / cost["plain"], None, "s")
        self.table.add(f"{name}: instrumented, not armed / plain", cost["plain"], cost["unarmed"], cost["unarmed"] / cost["plain"], 1 + noise, "s")
        for way, paths in (("armed", "default paths"), ("all", "a path for every allocation")):
            self.table.add(f"{name}: instrumented, armed, {paths} / plain", cost["plain"], cost[way], cost[way] / cost["plain"], 1.02 + noise, "s")
        self.table.add(f"{name}: instrumented, session stopped / not armed", cost["unarmed"], cost["stopped"], cost["stopped"] / cost["unarmed"], 1 + noise, "s")
        self.bytes_per_event(name, folders[-1])
        for folder in folders:
            self.discard(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release", help="build folder")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    effort.add_argument("--check", action="store_true", help="so short that the figures mean nothing: whether the benchmarks work")
    parts = ["record", "malloc", "instrumented", "stopped", "forks", "programs", "paths", "compile", "trace", "reading", "sessions", "report", "compare", "reach", "pages", "verify", "devices", "profiles", "graphs", "kernels", "python", "evidence"]
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(parts)} (default: all)")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in parts:
            parser.error(f"{part}: not one of {', '.join(parts)}")
    rounds, scale = (1, 0.01) if arguments.check else (3, 1) if arguments.quick else (7, 5)
    bench = Bench(arguments.build.resolve(), rounds, scale)
    print(f"{machine()}; median of {bench.rounds} interleaved runs\n")
    try:
        for part in arguments.parts or parts:
            getattr(bench, part)()
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 3
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
