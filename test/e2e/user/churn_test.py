#!/usr/bin/env python3
"""Tests programs that allocate the same memory again and again (churn). The report must have the known numbers of allocations. The same
work without churn, and ordinary programs, must have no finding. Churn is a finding only if it takes a large share of the
time, and this share depends on the machine. test/unit/report/churn_test.cpp tests this rule with given times.
   usage: churn_test.py BUILD SCRATCH LLVM
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, plain_compiler  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "churn.cpp"
LINES, WORDS, BUFFERS, TABLES, REQUESTS, NODES, STATES = 1_500_000, 2000, 1000, 200_000, 1500, 500, 20_000
# {kind of churn: (text of its line, confidence, word of the advice, evidence)}
WANTED = {
    "temporary": ("std::free(used(std::malloc(80)))", "likely", "keep one buffer",
                  dict(allocations=LINES, repeated=LINES - 1, temporary=LINES, reallocs=0, copied_bytes=0, usual_bytes=80)),
    "growing": ("std::realloc(words", "likely", "reserve the final size",
                dict(allocations=WORDS * BUFFERS, reallocs=(WORDS - 1) * BUFFERS, growth_steps=(WORDS - 1) * BUFFERS, longest_chain=WORDS - 1)),
    "doubling": ("entries.push_back(entry); // no reserve", "likely", "reserve the final size",
                 dict(allocations=5 * TABLES, reallocs=0, growth_steps=4 * TABLES, longest_chain=4, copied_bytes=(8 + 16 + 32 + 64) * TABLES)),
    "nodes": ("queue.push_back(node)", "hint", "arena",
              dict(allocations=NODES * REQUESTS, repeated=NODES * (REQUESTS - 1), temporary=REQUESTS, growth_steps=0, usual_bytes=24)),
    "clearing": ("std::calloc(1, kStateBytes)", "hint", "filled with zeros", dict(allocations=STATES, temporary=STATES, cleared_bytes=STATES * 100_000)),
}


def churns(report):
    return [finding for finding in report.json["findings"] if finding["kind"] == "churn"]


def run_without_findings(msleaks, folder, command):
    _, report = msleaks.run(folder, command)
    equal(f"findings of {command}", len(churns(report)), 0)
    return report


def is_counted(report, line, wanted):
    """Returns whether the report's table has this line with the known numbers. The table also contains lines without a finding."""
    for section in report.json["sections"]:
        for row in section["rows"] if section["name"] == "churn" else []:
            values = dict(zip([column["name"] for column in section["columns"]], row))
            if values["place"]["line"] == line:
                known = {"count": "allocations", "temporary": "temporary", "growth_steps": "growth_steps", "copied": "copied_bytes"}
                return all(values[column] == wanted[evidence] for column, evidence in known.items() if evidence in wanted)
    return False


def check_planted(msleaks, scratch, name, program):
    for what, (text, confidence, advice, evidence) in WANTED.items():
        _, report = msleaks.run(f"{scratch}/{name}-{what}", [program, what])
        found = churns(report)
        check(found or is_counted(report, line_of(PROGRAM, text), evidence), f"{what}, {name}: neither a finding nor in the table")
        for finding in found:
            equal(f"line of {what}, {name}", finding["site"]["line"], line_of(PROGRAM, text))
            equal(f"confidence of {what}, {name}", finding["confidence"], confidence)
            check(advice in finding["advice"], f"advice of {what}: {finding['advice']}")
            for key, value in evidence.items():
                equal(f"{key} of {what}, {name}", finding["evidence"].get(key), value)
            equal(f"bytes that {what} saves of the peak", finding["saves_bytes"], 0)
    report = run_without_findings(msleaks, f"{scratch}/{name}-mended", [program, "mended"])
    check("churn" not in [section["name"] for section in report.json["sections"]], "the mended program is in the table")


def ordinary(scratch):
    """Returns commands of ordinary programs without churn that are installed on this machine."""
    numbers = f"{scratch}/numbers.json"
    Path(numbers).write_text(json.dumps([{"name": f"n{i}", "value": i} for i in range(20_000)]))
    sql = "create table t(a integer, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) " \
          "insert into t select i, 'text ' || i from n; select count(*), sum(a) from t;"
    commands = [["sqlite3", ":memory:", sql], ["jq", "map(.value) | add", numbers], ["xz", "-kf", "-1", numbers],
                [sys.executable, "-c", "pass"], ["sort", numbers], ["gcc", "-O2", "-S", "-o", "/dev/null", "-x", "c++", PROGRAM]]
    return [command for command in commands if subprocess.run(["which", command[0]], stdout=subprocess.DEVNULL).returncode == 0]


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    marked, plain = f"{scratch}/marked", f"{scratch}/plain"
    msleaks.compile(PROGRAM, marked)
    check_planted(msleaks, scratch, "marked", marked)
    check(subprocess.run([plain_compiler(PROGRAM), "-std=c++20", "-g", "-O2", PROGRAM, "-o", plain]).returncode == 0, "g++ fails")
    check_planted(msleaks, scratch, "hooked", plain)
    for number, command in enumerate(ordinary(scratch)):
        run_without_findings(msleaks, f"{scratch}/ordinary-{number}", command)


main()
