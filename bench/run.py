#!/usr/bin/env python3
"""Measures msleaks beside its peers in one run and prints ratios.

    bench/run.py [--build build/release] [--quick] [record malloc programs trace report]

Peers: LTTng-UST for one event, heaptrack for a malloc+free pair; a peer that is not installed is said to be missing.
Every figure is the median of interleaved runs (a b c, a b c, …), so that a noisy minute hits all of them; only compare
figures of one run. The goals are those of docs/performance.md. Exit status 0: measured; goals that were missed are marked,
they do not fail the command. 2: usage. 3: a program under measurement failed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Failed(Exception):
    """A program under measurement failed; the message says which."""


def output_of(command, **options):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}; is it built? (--build)") from error
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def last_number(text):
    return float(text.strip().splitlines()[-1])


class Table:
    """Rows of (what, base, ours, ratio, goal), printed as Markdown."""

    def __init__(self):
        self.rows = []

    def add(self, what, base, ours, ratio, goal, unit="ns"):
        met = "" if goal is None else ("yes" if ratio <= goal + 1e-9 else "**no**")
        self.rows.append((what, f"{base:.4g} {unit}".strip(), f"{ours:.4g} {unit}".strip(), f"{ratio:.3g}",
                          "" if goal is None else f"<= {goal:g}", met))

    def note(self, what, why):
        self.rows.append((what, "", "", "", "", why))

    def show(self):
        head = ("what", "against", "ours", "ratio", "goal", "met")
        print("| " + " | ".join(head) + " |")
        print("|" + "---|" * len(head))
        for row in self.rows:
            print("| " + " | ".join(row) + " |")


class Bench:
    def __init__(self, build, quick):
        self.build = build
        self.rounds = 3 if quick else 7
        self.scale = 1 if quick else 5
        self.table = Table()
        self.scratch = Path(tempfile.mkdtemp(prefix="msleaks-bench-"))
        self.runs = 0

    def program(self, name):
        return self.build / "bin" / name

    def session(self, *options):
        """The words that put a command under msleaks-run, with a run folder of its own; and that folder."""
        self.runs += 1
        folder = self.scratch / f"run-{self.runs}"
        return [self.build / "bin" / "msleaks-run", "--no-report", *options, "-o", folder, "--"], folder

    def under_session(self, command, *options):
        words, folder = self.session(*options)
        text = output_of([*words, *command])
        return text, folder

    def medians(self, ways):
        """{name: callable giving a number} -> {name: median}, the ways taking turns."""
        seen = {name: [] for name in ways}
        for _ in range(self.rounds):
            for name, way in ways.items():
                seen[name].append(way())
        return {name: statistics.median(values) for name, values in seen.items()}

    def discard(self, folder):
        shutil.rmtree(folder, ignore_errors=True)

    # -- one event -----------------------------------------------------------------------------------------------

    def record(self):
        events = 1_000_000 * self.scale
        with LttngSession() as lttng:
            if not lttng.usable:
                self.table.note("record: LTTng", lttng.reason)
            for threads in (1, 2, 4, 8):
                self.record_on(threads, events // threads, lttng)

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

    # -- malloc + free -------------------------------------------------------------------------------------------

    def malloc(self):
        pairs = 1_000_000 * self.scale
        program = self.program("bench_pairs")
        heaptrack = shutil.which("heaptrack")
        for depth in (0, 10, 30):
            def plain():
                return last_number(output_of([program, depth, pairs]))

            def ours():
                text, folder = self.under_session([program, depth, pairs])
                self.discard(folder)
                return last_number(text)

            def peer():
                target = self.scratch / "heaptrack"
                text = output_of([heaptrack, "-o", target, program, depth, pairs // 5])
                for made in self.scratch.glob("heaptrack*"):
                    made.unlink()
                return float(next(line for line in text.splitlines() if line.replace(".", "", 1).isdigit()))

            ways = {"plain": plain, "ours": ours}
            if heaptrack:
                ways["heaptrack"] = peer
            cost = self.medians(ways)
            added = cost["ours"] - cost["plain"]
            self.table.add(f"malloc+free, depth {depth}, under msleaks-run / plain", cost["plain"], cost["ours"],
                           cost["ours"] / cost["plain"], None)
            if heaptrack:
                peer_added = cost["heaptrack"] - cost["plain"]
                self.table.add(f"malloc+free, depth {depth}, added cost / heaptrack's", peer_added, added, added / peer_added, 1 / 15)
            else:
                self.table.note("malloc+free: heaptrack", "not installed")

    # -- the collector and its file ------------------------------------------------------------------------------

    def trace(self):
        program = self.program("bench_record")
        per_thread = 10_000_000 * self.scale // 2
        text, folder = self.under_session([program, "msleaks", 2, per_thread, 5_000_000],
                                          "--on-full", "drop", "--ring-kib", "8192", "--ring-max-kib", "8192")
        account = self.account(folder)
        self.table.add("collector at 10 M events/s from two threads: dropped / produced", account["produced"],
                       account["dropped"], account["dropped"] / account["produced"], 0.0, "events")
        self.discard(folder)
        text, folder = self.under_session([self.program("bench_pairs"), 0, 1_000_000 * self.scale])
        self.bytes_per_event("malloc+free stream", folder)
        self.discard(folder)

    def bytes_per_event(self, what, folder):
        account = self.account(folder)
        size = (folder / "trace.mslt").stat().st_size
        self.table.add(f"trace of {what}: bytes / event", account["stored"], size, size / account["stored"], 6, "")

    def account(self, folder):
        done = subprocess.run([self.build / "bin" / "msleaks", "report", folder, "--json"], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise Failed(f"msleaks report {folder}: exit {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)["events"]

    # -- the report ----------------------------------------------------------------------------------------------

    def report(self):
        events = 20_000_000 * self.scale
        text, folder = self.under_session([self.program("bench_pairs"), 0, events // 2])
        seconds, peak_kib = timed([self.build / "bin" / "msleaks", "report", folder, "--json"])
        rate = events / seconds / 1e6
        self.table.add(f"report of {events // 1_000_000} M events: wanted 5 M events/s / reached", 5, rate, 5 / rate, 1.0, "M events/s")
        self.table.note(f"report of {events // 1_000_000} M events: peak memory", f"{peak_kib / 1024:.0f} MiB at 1,000 live blocks")
        self.discard(folder)

    # -- real programs -------------------------------------------------------------------------------------------

    def programs(self):
        """Each workload's script builds `plain` and `instrumented` and prints their commands, one `name: words` a line."""
        for script in sorted((HERE / "workloads").glob("*/bench.sh")):
            name = script.parent.name
            commands = dict(line.split(": ", 1) for line in output_of([script, self.build]).splitlines() if ": " in line)
            plain, instrumented = commands["plain"].split(), commands["instrumented"].split()
            folders = []

            def armed():
                words, folder = self.session()
                folders.append(folder)
                return timed([*words, *instrumented])[0]

            cost = self.medians({"plain": lambda: timed(plain)[0], "unarmed": lambda: timed(instrumented)[0], "armed": armed})
            self.table.add(f"{name}: instrumented, not armed / plain", cost["plain"], cost["unarmed"],
                           cost["unarmed"] / cost["plain"], 1.0, "s")
            self.table.add(f"{name}: instrumented, armed / plain", cost["plain"], cost["armed"], cost["armed"] / cost["plain"], 1.02, "s")
            self.bytes_per_event(name, folders[-1])
            for folder in folders:
                self.discard(folder)


def timed(command):
    """(user + system seconds of the command itself and its children, peak resident KiB); exit 1 is a report with findings."""
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen([str(word) for word in command], stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise Failed(f"{' '.join(map(str, command))}: exit {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class LttngSession:
    """A running LTTng session with the peer's event enabled, or the reason why there is none."""

    def __enter__(self):
        self.usable, self.reason = False, "not installed"
        if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
            return self
        self.home = tempfile.mkdtemp(prefix="msleaks-bench-lttng-")
        try:
            subprocess.run(["lttng-sessiond", "--daemonize"], capture_output=True)
            self.lttng("create", "msleaks-bench", "--output", self.home)
            self.lttng("enable-channel", "-u", "events", "--subbuf-size=4M", "--num-subbuf=4")
            self.lttng("enable-event", "-u", "msleaks_bench:alloc", "-c", "events")
            self.lttng("start")
            self.usable = True
        except Failed as failure:
            self.reason = str(failure)
        return self

    def lttng(self, *words):
        return output_of(["lttng", *words])

    def __exit__(self, *_):
        if self.usable:
            subprocess.run(["lttng", "destroy", "msleaks-bench"], capture_output=True, timeout=120)
        if hasattr(self, "home"):
            shutil.rmtree(self.home, ignore_errors=True)


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{os.cpu_count()} x {model}, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release", help="build folder")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parts = ["record", "malloc", "programs", "trace", "report"]
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(parts)} (default: all)")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in parts:
            parser.error(f"{part}: not one of {', '.join(parts)}")
    bench = Bench(arguments.build.resolve(), arguments.quick)
    print(f"{machine()}; median of {bench.rounds} interleaved runs\n")
    try:
        for part in arguments.parts or parts:
            getattr(bench, part)()
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 3
    finally:
        bench.table.show()
        shutil.rmtree(bench.scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
