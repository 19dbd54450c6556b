#!/usr/bin/env python3
"""Tests that each link in a page leads to an existing file and heading.

docs/README.md must name every page, and docs/abi.md must name every version."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    yield from (ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "analysis/README.md",
                                       "test/standins/README.md"))
    yield from sorted(DOCS.rglob("*.md"))


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(page):
    """Returns the anchors of a page, as GitHub derives them from its headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


class Outline(unittest.TestCase):
    def test_readme_is_short(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), 150)

    def test_readme_names_each_verb(self):
        verbs = {path.stem for path in (ROOT / "tools/verbs").glob("*.cpp")} - {"registry"} | {"run"}  # msleaks-run
        section = (ROOT / "README.md").read_text().split("## Verbs\n")[1].split("\n## ")[0]
        self.assertEqual(set(re.findall(r"^    msleaks[ -](\w+)", section, re.MULTILINE)), verbs)

    def test_each_page_begins_with_a_command(self):
        """Each page begins with an example: a block of code before the first section."""
        for page in sorted(DOCS.rglob("*.md")):
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertRegex(page.read_text().split("\n## ")[0], r"(?m)^(?:    \S|```)")


def broken_links(page):
    """Yields each link of the page without a target file or heading, as (link, error)."""
    for target in LINK.findall(without_code(page.read_text())):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        goal = (page.parent / file).resolve() if file else page
        if not goal.exists():
            yield target, "there is no such file"
        elif anchor and goal.suffix == ".md" and anchor not in anchors(goal):
            yield target, "there is no such heading"


class Links(unittest.TestCase):
    def test_each_leads_somewhere(self):
        for page in pages():
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(list(broken_links(page)), [])

    def test_the_index_names_every_page(self):
        text = (DOCS / "README.md").read_text()
        for page in sorted(DOCS.rglob("*.md")):
            name = str(page.relative_to(DOCS))
            if name != "README.md":
                with self.subTest(page=name):
                    self.assertIn(f"]({name})", text)


class Versions(unittest.TestCase):
    """docs/abi.md must name everything that has a version, because objects, libraries and files outlive the msleaks that made
    them."""

    def test_constants_and_sections(self):
        text = (DOCS / "abi.md").read_text()
        headers = [*(ROOT / "runtime/include").rglob("*.h"), *(ROOT / "analysis").rglob("*.h")]
        names = set()
        for header in headers:
            source = header.read_text()
            names.update(re.findall(r"constexpr \w+ (k\w*Version)\b", source))
            names.update(re.findall(r'constexpr char k\w*(?:Section|Prefix)\[\] = "(\w+?)_?"', source))
        names.discard("kLntVersion")  # the version of LNT's own format, which msleaks cannot change
        self.assertIn("kObjectVersion", names)
        self.assertIn("msl_graphs", names)
        for name in sorted(names):
            with self.subTest(name=name):
                self.assertIn(name, text)

    def test_functions_that_objects_call(self):
        """The pass declares some callbacks by name, without the table of callbacks. docs/abi.md must contain them, too."""
        text = (DOCS / "abi.md").read_text()
        names = re.findall(r'"(__msl_\w+)"', (ROOT / "passes/runtime_decls.cpp").read_text())
        names = [name for name in names if name != "__msl_"]
        self.assertIn("__msl_counters_of", names)
        for name in names:
            with self.subTest(name=name):
                self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
