#!/usr/bin/env python3
"""Tests that scripts/affected_tests.py finds the folders of tests that a change can break."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
from affected_tests import folders_of, parts_that_see  # noqa: E402

PARTS = "add_part(base)\nadd_part(trace SEES base USES zstd)\nadd_part(live SEES trace)\nadd_part(report SEES live)\n"


class AffectedTests(unittest.TestCase):
    def test_a_part_reaches_those_that_see_it(self):
        seen_by = parts_that_see(PARTS)
        self.assertEqual(seen_by["trace"], {"trace", "live", "report"})
        self.assertEqual(seen_by["report"], {"report"})
        self.assertEqual(folders_of("analysis/live/live_set.cpp", seen_by), ["live", "report", "e2e/user"])

    def test_a_test_reaches_itself(self):
        self.assertEqual(folders_of("test/unit/live/uses_test.cpp", {}), ["live"])
        self.assertEqual(folders_of("test/e2e/run/status_test.py", {}), ["e2e/run"])
        self.assertEqual(folders_of("test/lit/find/calls.c", {}), ["lit"])

    def test_the_narrow_row_comes_first(self):
        self.assertIn("e2e/kept", folders_of("runtime/include/msleaks/abi/events.def", {}))
        self.assertNotIn("e2e/kept", folders_of("runtime/src/ring.cpp", {}))
        self.assertEqual(folders_of("hooks/counting/counted_kernels.cpp", {}), ["hooks", "e2e/graphs"])

    def test_some_files_reach_nothing(self):
        self.assertEqual(folders_of("LICENSE", {}), [])


if __name__ == "__main__":
    unittest.main()
