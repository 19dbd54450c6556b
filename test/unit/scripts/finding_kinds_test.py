#!/usr/bin/env python3
"""Tests that docs/report.md has the row of each kind of finding, as analysis/result/finding_kinds.def declares it, and no other
row. The table of confidences must name each kind once."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(r'^MSL_FINDING_KIND\(\w+, "([^"]+)", \w+, "([^"]*)", "(.*)"\)$', re.MULTILINE)


def kinds():
    return ROW.findall(next(ROOT.glob("analysis/**/finding_kinds.def")).read_text())


def rows_of(table_header):
    """Returns the rows of the table in docs/report.md that has this header."""
    rest = (ROOT / "docs/report.md").read_text().split(table_header + "\n", 1)[1]
    return rest.split("\n\n", 1)[0].splitlines()[1:]


class FindingKinds(unittest.TestCase):
    def test_report_page_has_a_row_for_each(self):
        expected = [f"| {f'[`{name}`]({page})' if page else f'`{name}`'} | {subject} |" for name, page, subject in kinds()]
        rows = [row for row in rows_of("| kind | subject |") if "`NAME/KIND`" not in row]
        self.assertEqual(rows, expected)

    def test_report_page_tells_the_confidence_of_each(self):
        named = re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in rows_of("| kind | `proved` | `likely` | `hint` |")))
        self.assertEqual(sorted(named), sorted(name for name, _, _ in kinds()))


if __name__ == "__main__":
    unittest.main()
