#!/usr/bin/env python3
"""Tests the example of a user's own analyzer (a library that adds findings to a report), built outside of the source tree. Compares
reports with the analyzer, without it, and with analyzers that fail.
   usage: analyzer_test.py BUILD SCRATCH LLVM [INCLUDE_FOLDER]
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, line_of, need, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "repeats.c"
EXAMPLE = REPOSITORY / "examples" / "analyzer" / "one_at_a_time.cpp"
IN_TREE = [REPOSITORY / "analysis/foreign/include", REPOSITORY / "runtime/include"]
THROWS = """#include "msleaks/analyzer.h"
struct Throws final : msleaks::analyzer::Analyzer {
  void conclude(msleaks::analyzer::Conclusion &) override { throw std::runtime_error("no idea"); }
};
MSL_ANALYZER(throws, Throws)
"""
TIMES, BUFFER = 1000, 3000


class Reports:
    def __init__(self, msleaks, folder):
        self.msleaks, self.folder = msleaks, folder

    def ask(self, *options):
        return subprocess.run([self.msleaks.bin / "msleaks", "report", self.folder, *options], capture_output=True, text=True, cwd=self.folder.parent)

    def json(self, *files):
        done = self.ask("--json", *[word for file in files for word in ("--analyzer", file)])
        return done, json.loads(done.stdout)


def build(source, library, include):
    done = run([need("g++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", *[f"-I{folder}" for folder in include], source, "-o", library])
    check(done.returncode == 0, f"{source} does not compile: {done.stderr}")


def expect_example(reports, library):
    done, report = reports.json(library)
    equal("status, as nothing leaks", (done.returncode, done.stderr), (0, ""))
    own = [finding for finding in report["findings"] if finding["kind"].startswith("one_at_a_time/")]
    equal("findings of the example", len(own), 1)
    found = own[0]
    equal("kind", found["kind"], "one_at_a_time/repeated")
    equal("line", found["site"]["line"], line_of(PROGRAM, "*buffer = used("))
    equal("what it is about", (found["bytes"], found["count"], found["confidence"]), (TIMES * BUFFER, TIMES, "likely"))
    equal("evidence", (found["evidence"]["largest_bytes"], found["evidence"]["steps"]), (BUFFER, TIMES // 100))
    table = next(section for section in report["sections"] if section["name"] == "one_at_a_time/places")
    equal("the table", [row[1:] for row in table["rows"]], [[TIMES, BUFFER]])
    text = reports.ask("--analyzer", library).stdout
    check("one_at_a_time/repeated: 1,000 blocks (2.86 MiB)" in text and "Places with one block at a time" in text, f"the text:\n{text}")


def without_own(report):
    for key in ("findings", "sections", "notes"):
        report[key] = [item for item in report[key] if "one_at_a_time" not in str(item) and "analyzer '" not in str(item)]
    return report


def expect_failures(reports, scratch, library, include):
    """Checks reports with analyzers that fail. The other parts of the report must be unchanged, one line must give the reason, and
    the exit status must be 3. The report must also name the analyzer that failed."""
    _, plain = reports.json()
    thrower = scratch / "throws.so"
    (scratch / "throws.cpp").write_text(THROWS)
    build(scratch / "throws.cpp", thrower, include)
    for file, text in ((thrower, "no idea"), ("nowhere.so", "cannot be loaded"), (PROGRAM, "cannot be loaded"),
                       ("/lib/x86_64-linux-gnu/libm.so.6" if os.uname().machine == "x86_64" else "libm.so.6", "analyzer"), (library, "is called one_at_a_time, too")):
        files = [library, file] if file == library else [file]
        done, report = reports.json(*files)
        equal(f"status with {file}", done.returncode, 3)
        check(done.stderr.startswith("msleaks: analyzer '") and done.stderr.count("\n") == 1 and text in done.stderr, f"{file}: {done.stderr}")
        failure = done.stderr[len("msleaks: "):-1]
        check(failure in report["notes"], f"{file}: no note: {report['notes']}")
        equal(f"what failed with {file}", report.pop("failed_analyzers", None), [failure])
        equal(f"the report with {file}", without_own(report), plain)


def main():
    build_folder, scratch, llvm = arguments("build", "scratch", "llvm")
    include = [sys.argv[4]] if len(sys.argv) > 4 else IN_TREE
    scratch = Path(scratch)
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build_folder, llvm)
    msleaks.compile(PROGRAM, scratch / "repeats", f"-I{REPOSITORY / 'runtime/include'}")
    msleaks.run(scratch / "run", [scratch / "repeats"])
    reports = Reports(msleaks, scratch / "run")
    library = scratch / "one_at_a_time.so"
    build(EXAMPLE, library, include)
    expect_example(reports, library)
    expect_example(reports, library.name)  # a name without a folder must refer to a file, not to a library of the system
    expect_failures(reports, scratch, library, include)


main()
