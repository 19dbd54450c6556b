"""Tests msleaks.read and msleaks.compare with runs of a program whose figures are known.

    results_test.py BUILD SCRATCH PYTHON
"""
import json
import os
import shutil
import subprocess
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

from block_size import bytes_of_block

BUILD, SCRATCH, PYTHON = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "programs/kept.py"
PACKAGE = HERE.parents[2] / "tools/python"
STARTED = "MSLEAKS_TEST_STARTED"
OWNER = "mine@cache"
BLOCK, WORK = (bytes_of_block(PYTHON, size) for size in (2_000_000, 30_000_000))


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


def at(table, text):
    """Returns the row of the line with this text."""
    rows = [row for row in table if row["file"] == str(PROGRAM) and row["line"] == line_of(text)]
    assert len(rows) == 1, rows
    return rows[0]


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        SCRATCH.mkdir(parents=True)
        for name, count in ("two", 2), ("three", 3):
            subprocess.run([BUILD / "bin/msleaks-run", "--no-report", "-o", SCRATCH / name, "--", sys.executable, PROGRAM, str(count)], check=True)
        cls.run_two = msleaks.read(SCRATCH / "two")

    def test_peak(self):
        run = self.run_two
        self.assertEqual(at(run.peak, "that keeps")["bytes"], 6 * BLOCK)
        row = at(run.peak, "that frees")
        self.assertEqual((row["bytes"], row["count"], row["function"], row["own"]), (WORK, 1, "work", True))
        self.assertEqual(run.peak_bytes, sum(row["bytes"] for row in run.peak))
        self.assertEqual(row["paths"][0]["bytes"], WORK)

    def test_end(self):
        row = at(self.run_two.end, "that keeps")
        self.assertEqual((row["bytes"], row["count"], row["state"], row["heap"]), (6 * BLOCK, 6, "leak", "host"))
        report = self.run_two.report
        self.assertEqual(sum(row["bytes"] for row in self.run_two.end if row["state"] == "leak"), report["leaks"]["bytes"])
        self.assertEqual({row["state"] for row in self.run_two.end}, {"leak", "suppressed"})
        self.assertEqual(self.run_two.leaked_bytes, report["leaks"]["found"]["bytes"])

    def test_findings(self):
        finding = at(self.run_two.findings, "that keeps")
        self.assertEqual((finding["kind"], finding["bytes"], finding["owner"], finding["evidence"]["saves_total_bytes"]),
                         ("peak", 6 * BLOCK, OWNER, 6 * BLOCK))
        self.assertEqual([row["id"] for row in self.run_two.findings], [row["id"] for row in self.run_two.report["findings"]])

    def test_allocations_and_owners(self):
        row = at(self.run_two.allocations, "that frees")
        self.assertEqual((row["bytes"], row["count"], row["temporary"]), (3 * WORK, 3, 3))
        owner = next(row for row in self.run_two.owners if row["owner"] == OWNER)
        self.assertEqual(owner["at_peak"], 6 * BLOCK)
        self.assertEqual(self.run_two.section("nonsense"), [])

    def test_steps(self):
        steps = self.run_two.steps
        self.assertEqual([(row["first"], row["last"]) for row in steps], [(5, 5), (6, 6), (7, 7)])
        for before, after in zip(steps, steps[1:]):
            self.assertEqual(after["end_bytes"] - before["end_bytes"], 2 * BLOCK)

    def test_events(self):
        self.assertEqual([event["label"] for event in self.run_two.events("mark")], ["done"])
        self.assertEqual([event["number"] for event in self.run_two.events("step")], [5, 6, 7])
        some = self.run_two.events()
        next(some)
        some.close()
        with self.assertRaisesRegex(msleaks.ToolFailed, "nonsense") as raised:
            list(self.run_two.events("nonsense"))
        self.assertEqual(raised.exception.status, 2)

    def test_options_and_result_files(self):
        self.assertEqual(at(msleaks.read(SCRATCH / "two", "--at", "step:6").peak, "that keeps")["bytes"], 2 * BLOCK)
        result = SCRATCH / "two.json"
        result.write_text(json.dumps(self.run_two.report))
        self.assertEqual(msleaks.read(result).peak, self.run_two.peak)

    def test_what_cannot_be_read(self):
        for path, options, status in (SCRATCH / "missing", (), 3), (SCRATCH / "two", ("--nonsense",), 2):
            with self.assertRaises(msleaks.ToolFailed) as raised:
                msleaks.read(path, *options)
            self.assertEqual((raised.exception.status, str(raised.exception).count("\n")), (status, 0))
        with self.assertRaises(msleaks.ToolFailed):
            msleaks.compare(SCRATCH / "two", SCRATCH / "missing")
        with mock.patch.dict(os.environ, PATH="/nowhere"), self.assertRaisesRegex(msleaks.ToolFailed, "PATH") as raised:
            msleaks.read(SCRATCH / "two")
        self.assertEqual(raised.exception.status, 127)

    def test_compare(self):
        changes = msleaks.compare(SCRATCH / "two", SCRATCH / "three")
        self.assertTrue(changes.differs)
        row = at(changes.places, "that keeps")
        wanted = {"change_bytes": 3 * BLOCK, "before_bytes": 6 * BLOCK, "before_count": 6, "after_bytes": 9 * BLOCK, "after_count": 9}
        self.assertEqual({name: row[name] for name in wanted}, wanted)
        self.assertEqual(at(changes.leaks, "that keeps")["change_bytes"], 3 * BLOCK)
        self.assertEqual(at(changes.allocated, "that keeps")["after_bytes"], 9 * BLOCK)
        self.assertEqual(changes.peak_change_bytes, changes.report["peak"]["after"] - changes.report["peak"]["before"])
        same = msleaks.compare(SCRATCH / "two", SCRATCH / "two")
        self.assertEqual((same.differs, same.places), (False, []))

    def test_pandas(self):
        pandas = types.SimpleNamespace(DataFrame=lambda rows: ("frame", rows))
        with mock.patch.dict(sys.modules, pandas=pandas):
            self.assertEqual(self.run_two.steps.to_pandas(), ("frame", list(self.run_two.steps)))
        with mock.patch.dict(sys.modules, pandas=None), self.assertRaises(ImportError):
            self.run_two.steps.to_pandas()

    def test_a_program_that_reads_is_not_recorded(self):
        """A recorded program may read runs. The programs of msleaks that it starts are no part of its own recording."""
        code = f"import msleaks; print(msleaks.read({str(SCRATCH / 'two')!r}).peak_bytes)"
        done = subprocess.run([BUILD / "bin/msleaks-run", "--no-report", "-o", SCRATCH / "reader", "--", sys.executable, "-c", code],
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(int(done.stdout), self.run_two.peak_bytes)
        report = msleaks.read(SCRATCH / "reader").report
        self.assertEqual([process["command"][1:2] for process in report["processes"]], [["-c"]])
        self.assertTrue(report["session"]["complete"], report["notes"])


if __name__ == "__main__":
    if STARTED not in os.environ:  # the package is tested in the given Python
        environment = {**os.environ, STARTED: "1", "PYTHONPATH": str(PACKAGE), "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}
        os.execve(shutil.which(PYTHON), [PYTHON, "-B", __file__, *sys.argv[1:]], environment)
    import msleaks

    unittest.main(argv=sys.argv[:1])
