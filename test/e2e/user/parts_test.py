#!/usr/bin/env python3
"""Tests reports of a part of a run, such as the time between two steps or marks, one process, one heap, or one owner. The numbers of
each part are known. Also tests suppressions, refused options, and the text of the report.
   usage: parts_test.py BUILD SCRATCH LLVM
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, line_of  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "steps.c"
WEIGHTS, BATCH, KEPT, CHILD = 1 << 20, 1 << 18, 1 << 10, 3 << 16
BATCHES, CACHE, LOAD, IN_CHILD = (line_of(PROGRAM, text) for text in ("*batch =", "kept[number] =", "*weights =", "kept[0] ="))


class Run:
    def __init__(self, msleaks, folder):
        self.msleaks, self.folder = msleaks, folder

    def ask(self, *options):
        return json.loads(self.msleaks.output("report", self.folder, "--json", *options))

    def text(self, *options):
        return self.screen("--all", *options)

    def screen(self, *options):
        return self.msleaks.output("report", self.folder, *options)

    def refused(self, *options):
        done = subprocess.run([self.msleaks.bin / "msleaks", "report", self.folder, *options], capture_output=True, text=True)
        check(done.stderr.count("\n") == 1, f"{options}: not one line: {done.stderr}")
        check(done.stdout == "", f"{options}: {done.stdout}")
        return done.returncode


def own(report, key="by_site"):
    """Returns {line: bytes} of the leaks at lines of the program itself."""
    return {line["site"]["line"]: line["bytes"] for line in report["leaks"][key] if (line["site"]["file"] or "").endswith("steps.c")}


def expect_windows(run):
    whole = run.ask()
    equal("peak of the run, with the child's", own_peak(whole), {LOAD: WEIGHTS, BATCHES: 3 * BATCH, CACHE: 3 * KEPT})
    equal("peak of step 2", own_peak(run.ask("--from", "step:2", "--to", "step:3")), {LOAD: WEIGHTS, BATCHES: 2 * BATCH, CACHE: 2 * KEPT})
    equal("peak before the first mark", own_peak(run.ask("--to", "mark:loaded")), {LOAD: WEIGHTS})
    equal("peak behind the last mark", own_peak(run.ask("--from", "mark:done")), {LOAD: WEIGHTS, CACHE: 3 * KEPT})
    equal("leaks of a window that the end lies behind", own(run.ask("--from", "step:1", "--to", "step:2")), {})
    equal("what came in step 1 and outlives step 2", own(run.ask("--from", "step:1", "--born-until", "step:2", "--to", "step:3")), {CACHE: KEPT})
    equal("what came before the first step", own(run.ask("--born-until", "step:1", "--to", "mark:done")), {LOAD: WEIGHTS, IN_CHILD: CHILD})
    equal("exit status", run.refused("--born-until", "step:77"), 2)
    equal("exit status", run.refused("--from", "2s", "--born-until", "1s"), 2)
    equal("a window of all", own(run.ask("--from", "0s", "--to", "1h")), own(whole))


def own_peak(report):
    return {line["site"]["line"]: line["bytes"] for line in report["peak"]["by_site"] if (line["site"]["file"] or "").endswith("steps.c")}


def expect_parts(run):
    whole = run.ask()
    pids = [process["pid"] for process in whole["processes"]]
    equal("processes", len(pids), 2)
    first, child = (run.ask("--pid", str(pid)) for pid in pids)
    equal("leaks of both", first["leaks"]["bytes"] + child["leaks"]["bytes"], whole["leaks"]["bytes"])
    equal("leaks of the child", own(child), {IN_CHILD: CHILD})
    equal("leaks of the first", own(first), {CACHE: 3 * KEPT})
    equal("device memory", run.ask("--heap", "device")["peak"]["bytes"], 0)
    owners = next(section for section in run.ask("--group-by", "owner")["sections"] if section["name"] == "peak_by_owner")
    equal("what the program calls the cache's", [row[1:] for row in owners["rows"] if row[0] == "net@cache"], [[3 * KEPT, 3]])
    equal("total by owner", owners["totals"][1], whole["peak"]["bytes"])


def expect_suppressed(run, scratch):
    rules = Path(scratch) / "mine.supp"
    rules.write_text("# the cache is never emptied\nleak:^step$\n")
    equal("leaks that the rule leaves", own(run.ask("--suppressions", rules)), {IN_CHILD: CHILD})
    rules.write_text("fun:step\n")
    equal("a rule of another kind", run.refused("--suppressions", rules), 2)
    equal("no such file", run.refused("--suppressions", scratch + "/none"), 3)


def expect_refused(run):
    for options in (["--from", "2s", "--to", "1s"], ["--from", "step:9"], ["--to", "mark:never"], ["--from", "soon"], ["--pid", "1"],
                    ["--thread", "1"], ["--heap", "stack"], ["--group-by", "colour"], ["--sort", "colour"], ["--columns", "colour"],
                    ["--color", "green"], ["--min", "much"]):
        equal(f"status of {options}", run.refused(*options), 2)


def expect_findings(run):
    findings = run.ask()["findings"]
    leak = next(finding for finding in findings if finding["kind"] == "leak" and finding["site"]["line"] == CACHE)
    equal("bytes of the leak", (leak["bytes"], leak["count"], leak["saves_bytes"]), (3 * KEPT, 3, 3 * KEPT))
    peak = next(finding for finding in findings if finding["kind"] == "peak" and finding["site"]["line"] == BATCHES)
    equal("what the batches save: without them the peak is while the child lives", peak["saves_bytes"], 3 * BATCH + 3 * KEPT - CHILD)
    equal("owner of the cache, as the program says", leak["owner"], "net@cache")
    equal("owner of the batches", Path(peak["owner"]).name, "steps")


def expect_text(run):
    for width in ("20", "80", "200"):
        text = run.text("--width", width)
        for line in text.splitlines():
            check(len(line) <= max(int(width), 64) or "/" in line, f"--width {width}: {line}")
    text = run.text("--width", "120", "--color", "never")
    words = [line.split(" ")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    equal("order", [word for word in words if word in ("command", "time", "peak", "events", "Findings", "At", "Leaked")],
          ["command", "time", "peak", "events", "Findings", "At", "Leaked"])
    row = next(line for line in text.split("At the peak")[1].splitlines() if f"steps.c:{LOAD}" in line)
    check(len(re.match(r"[^/a-z]*(?:MiB|KiB)[^/a-z.]*", row)[0]) <= 30, f"the place begins too late: {row}")
    check("\x1b" in run.text("--color", "always"), "no color")
    check(f"steps.c:{LOAD}" not in run.text("--filter", "^step$"), "the filter lets main pass")
    check(f"steps.c:{BATCHES}" in run.text("--filter", "^step$"), "the filter lets step not pass")
    check("oldest" in run.text("--columns", "bytes,oldest"), "no column of ages")
    check(f"steps.c:{CACHE}" not in run.text("--min", "100KiB").split("Allocated")[0], "less than --min is shown")
    head = subprocess.run(f"'{run.msleaks.bin / 'msleaks'}' report '{run.folder}' | head -1", shell=True, capture_output=True, text=True)
    equal("a pipe that closes", head.stderr, "")


def expect_screen(run):
    """Checks the report without options: what it has, its size, and the options that ask for more."""
    without_columns = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    text = subprocess.run([run.msleaks.bin / "msleaks", "report", run.folder], capture_output=True, text=True, env=without_columns).stdout
    for width, shown in ((100, text), (80, run.screen("--width", "80")), (50, run.screen("--width", "50"))):
        lines = shown.splitlines()
        check(len(lines) <= 40 and max(map(len, lines)) <= width, f"{len(lines)} lines, {max(map(len, lines))} columns:\n{shown}")
    words = [line.split(" ")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    equal("order", [word for word in words if word in ("command", "time", "events", "peak", "leaks", "Findings", "At", "next", "Leaked", "cost")],
          ["command", "time", "events", "peak", "leaks", "Findings", "At", "next"])
    for line in (LOAD, BATCHES, CACHE):
        check(f"steps.c:{line}" in text, f"line {line} is not in:\n{text}")
    check(f"msleaks report {run.folder} --all" in text, f"what to type next:\n{text}")
    whole = run.text()
    facts = [line for line in text.splitlines() if line.startswith(("time ", "events ", "leaks "))]
    check(len(facts) == 3 and all(line in whole.splitlines() for line in facts), f"{facts} in\n{whole}")


def expect_sections(run):
    whole = run.text("--width", "200")
    for name, title in (("peak", "At the peak"), ("leaks", "Leaked"), ("allocations", "Allocated in all")):
        text = run.screen("--section", name, "--width", "200")
        check(text.startswith(f"{title}\n") and text.strip() in whole, f"--section {name}:\n{text}")
    check("oldest" in run.screen("--columns", "bytes,oldest"), "the ages of leaks, which the first screen does not have")
    groups = run.screen("--group-by", "function")
    check("  step\n" in groups and f"steps.c:{LOAD}" not in groups.split("At the peak")[1], f"--group-by:\n{groups}")
    check(f"steps.c:{BATCHES}" in run.screen("--filter", "^step$") and f"steps.c:{LOAD}" not in run.screen("--filter", "^step$"), "--filter")
    done = subprocess.run([run.msleaks.bin / "msleaks", "report", run.folder, "--section", "findings", "--section", "nothing"], capture_output=True, text=True)
    equal("an unknown section", (done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
    for name in ("findings", "peak", "leaks", "allocations"):
        check(name in done.stderr, f"{name} is not in the list: {done.stderr}")
    for options in ("--json", "--all"):
        equal(f"status of --section with {options}", run.refused("--section", "peak", options), 2)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    program = f"{scratch}/steps"
    msleaks.compile(PROGRAM, program, f"-I{REPOSITORY / 'runtime' / 'include'}")
    done, _ = msleaks.run(f"{scratch}/run", [program])
    equal("output", done.stdout, "3 steps\n")
    run = Run(msleaks, f"{scratch}/run")
    expect_windows(run)
    expect_parts(run)
    expect_suppressed(run, scratch)
    expect_refused(run)
    expect_findings(run)
    expect_text(run)
    expect_screen(run)
    expect_sections(run)


if __name__ == "__main__":
    main()
