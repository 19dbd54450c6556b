#!/usr/bin/env python3
"""Tests that scripts/write-finding-kinds.py would not change docs/report.md. The table of confidences must name each kind once."""
import importlib.util
import re
import subprocess
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/write-finding-kinds.py"
spec = importlib.util.spec_from_file_location("write_finding_kinds", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


class FindingKinds(unittest.TestCase):
    def test_report_page_has_the_rows(self):
        done = subprocess.run([SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_kinds_are_found(self):
        self.assertIn("growth", [name for name, _, _ in script.kinds()])

    def test_report_page_tells_the_confidence_of_each(self):
        rest = script.PAGE.read_text().split("| kind | `proved` | `likely` | `hint` |\n", 1)[1]
        rows = rest.split("\n\n", 1)[0].splitlines()[1:]
        named = re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in rows))
        self.assertEqual(sorted(named), sorted(name for name, _, _ in script.kinds()))


if __name__ == "__main__":
    unittest.main()
