#!/usr/bin/env python3
"""Tests the complaints of check-format.py, and which files it checks."""
import importlib.util
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/check-format.py"
specification = importlib.util.spec_from_file_location("check_format", SCRIPT)
check_format = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_format)

A, B = Path("hooks/a.cpp"), Path("hooks/b.h")


class Complaints(unittest.TestCase):
    def complaints(self, different, excused):
        return [line.split(";")[0] for line in check_format.complaints([A, B], different, excused)]

    def test_none_where_the_list_is_true(self):
        self.assertEqual(self.complaints({A}, {A}), [])

    def test_a_file_that_is_not_listed(self):
        self.assertEqual(self.complaints({A, B}, {A}), ["hooks/b.h: clang-format-22 lays it out otherwise"])

    def test_a_listed_file_that_is_formatted_now(self):
        self.assertEqual(self.complaints(set(), {A}), ["hooks/a.cpp: it is formatted now"])

    def test_a_listed_file_that_was_not_looked_at(self):
        self.assertEqual(self.complaints(set(), {Path("tools/other.cpp")}), [])


class Files(unittest.TestCase):
    def test_sources_without_tests_of_positions(self):
        self.assertTrue(check_format.is_ours(A))
        self.assertFalse(check_format.is_ours(Path("test/lit/families/cuda.cpp")))
        self.assertFalse(check_format.is_ours(Path("docs/README.md")))


if __name__ == "__main__":
    unittest.main()
