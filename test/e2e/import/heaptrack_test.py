#!/usr/bin/env python3
"""Imports a file of heaptrack. The sums must be those that heaptrack_print prints, also for a file that was cut.

    heaptrack_test.py BUILD SCRATCH
"""
import gzip
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from imported import KEPT  # noqa: E402
from msleaks_e2e import Msleaks, Verb, arguments, check, empty_folder, equal, line_of, need, run  # noqa: E402

CHURN = """
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
__attribute__((noinline)) std::size_t churn(int blocks) {
  std::size_t sum = 0;
  for (int i = 0; i < blocks; ++i) {
    std::string text(50 + i % 7, 'x');  // a block of one of seven sizes
    std::vector<int> list(i + 1);
    sum += text.size() + list.size();
  }
  return sum;
}
int main() {
  char *block = static_cast<char *>(std::realloc(std::malloc(10), 5000));  // stays
  std::thread thread([] { churn(300); });
  thread.join();
  return churn(300) == 7 || block == nullptr;
}
"""


def sum_of(printer, file, scratch, cost):
    """Returns the sum of the costs of all paths. heaptrack_print rounds only in its text."""
    stacks = scratch / f"{cost}.folded"
    equal(f"status of heaptrack_print, {cost}", run([printer, "-f", file, "--flamegraph-cost-type", cost, "-F", stacks]).returncode, 0)
    return sum(int(line.rsplit(" ", 1)[1]) for line in stacks.read_text(errors="replace").splitlines())


def expect_sums(msleaks, printer, scratch, file):
    report = msleaks.report(file)
    rows = report.rows("allocations")
    equal("peak", report.peak_bytes, sum_of(printer, file, scratch, "peak"))
    equal("allocations", sum(row[2] for row in rows), sum_of(printer, file, scratch, "allocations"))
    leaked = report.json["leaks"]["bytes"] + report.json["leaks"]["suppressed"]["bytes"]
    equal("leaks", leaked, sum_of(printer, file, scratch, "leaked"))
    return report


def record(scratch, name, source, *command):
    program = scratch / name
    equal("status of the compiler", run(["g++", "-std=c++20", "-g", "-O1", source, "-o", program, "-pthread"]).returncode, 0)
    done = subprocess.run(["heaptrack", "-o", scratch / f"{name}-heaptrack", program, *command], capture_output=True, text=True)
    equal(f"status of heaptrack ({done.stderr})", done.returncode, 0)
    return next(file for file in scratch.glob(f"{name}-heaptrack.*") if file.suffix in (".zst", ".gz"))


class Reporting(Verb):
    name = "report"


def expect_cut(msleaks, scratch, file):
    text = subprocess.run(["zstd", "-dc", file] if file.suffix == ".zst" else ["gzip", "-dc", file], capture_output=True, check=True).stdout
    for name, content in (("cut.txt", text[: len(text) // 2]), ("cut.gz", gzip.compress(text)[:-4000])):
        (scratch / name).write_bytes(content)
        report = msleaks.report(scratch / name)
        check(any("was cut" in note for note in report.json["notes"]), f"{name}: no note in {report.json['notes']}")
        equal("leaks of a part", report.json["leaks"]["bytes"], 0)
    damaged = text.replace(b"\n+ ", b"\n+ fffffff", 1)
    (scratch / "damaged.txt").write_bytes(damaged)
    Reporting(msleaks, scratch).refuse(3, "is damaged", scratch / "damaged.txt")


def main():
    build, scratch = arguments("build", "scratch")
    need("heaptrack")
    printer = need("heaptrack_print")
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    (scratch / "churn.cpp").write_text(CHURN)
    expect_cut(msleaks, scratch, record(scratch, "churn", scratch / "churn.cpp"))
    expect_sums(msleaks, printer, scratch, scratch / "churn-heaptrack.zst")
    report = expect_sums(msleaks, printer, scratch, record(scratch, "kept", KEPT))
    report.expect_site("leaks", "kept.cpp", line=line_of(KEPT, "made here"), bytes=100_000, count=1)
    equal("source", report.json["session"]["source"].split()[0], "heaptrack")
    check(report.json["session"]["command"] == [str(scratch / "kept")], f"command {report.json['session']['command']}")


if __name__ == "__main__":
    main()
