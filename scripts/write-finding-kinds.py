#!/usr/bin/env python3
"""Writes the rows of finding kinds in docs/report.md, as analysis/result/finding_kinds.def declares them. With --check, it writes
nothing.
   usage: write-finding-kinds.py [--check]
   Exit status 1: with --check, the page differs. 2: wrong usage, or the page has no such table.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/report.md"
KIND = re.compile(r'^MSL_FINDING_KIND\(\w+, "([^"]+)", \w+, "([^"]*)", "(.*)"\)$', re.MULTILINE)
TABLE = re.compile(r"(?<=\| kind \| subject \|\n\|---\|---\|\n).*?(?=\| `NAME/KIND` \|)", re.DOTALL)


def kinds():
    """Returns the name, the page and the subject of each kind."""
    return KIND.findall((ROOT / "analysis/result/finding_kinds.def").read_text())


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        print(f"write-finding-kinds.py: unknown arguments {' '.join(arguments)}; only --check is known", file=sys.stderr)
        return 2
    text = PAGE.read_text()
    if not TABLE.search(text):
        print(f"write-finding-kinds.py: {PAGE} has no table `| kind | subject |` with a last row `NAME/KIND`", file=sys.stderr)
        return 2
    rows = "".join(f"| {f'[`{name}`]({page})' if page else f'`{name}`'} | {subject} |\n" for name, page, subject in kinds())
    written = TABLE.sub(lambda _: rows, text, count=1)
    if written == text:
        return 0
    if arguments:
        print(f"{PAGE}: the rows of finding kinds differ from finding_kinds.def; run scripts/write-finding-kinds.py", file=sys.stderr)
        return 1
    new = PAGE.with_suffix(".new")
    new.write_text(written)
    new.replace(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
