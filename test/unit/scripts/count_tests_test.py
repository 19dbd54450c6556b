#!/usr/bin/env python3
"""Tests the counts of scripts/count_tests.py, and its exit status if a test failed."""
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/count_tests.py"
LIT = """Testing Time: 0.35s

Total Discovered Tests: 7
  Unsupported      : 1 (14.29%)
  Passed           : 4 (57.14%)
  Expectedly Failed: 1 (14.29%)
  Failed           : 1 (14.29%)
"""


# The elements that ctest writes for a skipped test, in its different formats.
SKIPPED = {
    "said": '<skipped message="SKIP_RETURN_CODE=77"/>',
    "matched": '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>',
    "missing": '<skipped message="Unable to find executable"/>',
}


def count(*tests):
    cases = "".join(f'<testcase name="{name}" status="{status}">{SKIPPED[more[0]] if more else ""}<system-out>{output}</system-out></testcase>'
                    for name, status, output, *more in tests)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "suite.xml"
        file.write_text(f"<testsuite>{cases}</testsuite>")
        done = subprocess.run(["python3", SCRIPT, file], stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines(), done.returncode


class CountTests(unittest.TestCase):
    def test_all_passed(self):
        self.assertEqual(count(("a", "run", ""), ("b", "run", "")), (["2 passed, 0 failed"], 0))

    def test_a_failure_is_named_and_decides_the_status(self):
        lines, status = count(("a", "run", ""), ("b", "fail", "boom"))
        self.assertEqual((lines[-1], status), ("1 passed, 1 failed", 1))
        self.assertIn("suite: b", lines[0])

    def test_what_a_failed_test_printed_comes_before_the_count(self):
        lines, _ = count(("a", "run", "fine"), ("b", "fail", "\n".join(f"line {n}" for n in range(100))))
        self.assertIn("the last 60 of 100 lines", lines[1])
        self.assertEqual(lines[2:-1], [f"line {n}" for n in range(40, 100)])

    def test_a_skip_says_why(self):
        lines, status = count(("a", "run", ""), ("b", "notrun", "skipped: no network", "said"),
                              ("c", "notrun", "[  SKIPPED ] stepping", "matched"))
        self.assertEqual((lines[-1], status), ("1 passed, 0 failed, 2 skipped", 0))
        self.assertIn("no network", lines[0])

    def test_a_missing_executable_is_no_skip(self):
        lines, status = count(("a", "run", ""), ("b", "notrun", "Unable to find executable: b", "missing"), ("c", "notrun", "skipped: by whom"))
        self.assertEqual((lines[-1], status), ("1 passed, 2 failed", 1))

    def test_lit_counts_its_own_tests(self):
        lines, status = count(("passes", "fail", LIT))
        self.assertEqual((lines[-1], status), ("5 passed, 1 failed, 1 skipped", 1))

    def test_nothing_run_is_no_success(self):
        self.assertEqual(count(), (["0 passed, 0 failed"], 1))

    def test_missing_results_are_a_failure(self):
        done = subprocess.run(["python3", SCRIPT, "/nonexistent.xml"], stdout=subprocess.PIPE, text=True)
        self.assertEqual((done.stdout.splitlines()[-1], done.returncode), ("0 passed, 1 failed", 1))


if __name__ == "__main__":
    unittest.main()
