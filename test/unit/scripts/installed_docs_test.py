#!/usr/bin/env python3
"""Tests that in the pages of an installation, every relative link leads to an installed file."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pages_test

SCRIPT = pages_test.ROOT / "scripts/installed_docs.py"
sys.path.insert(0, str(SCRIPT.parent))
from installed_docs import with_installed_links  # noqa: E402 (it lies in scripts/)


class InstalledDocs(unittest.TestCase):
    def test_each_link_leads_to_an_installed_file(self):
        with tempfile.TemporaryDirectory(prefix="msleaks-docs-") as temporary:
            folder = Path(temporary).resolve() / "docs of msleaks"
            subprocess.run([sys.executable, "-B", SCRIPT, pages_test.ROOT, folder], check=True)
            pages = sorted(folder.rglob("*.md"))
            self.assertEqual(len(list((folder / "docs").rglob("*"))), len(list(pages_test.DOCS.rglob("*"))))
            for page in pages:
                with self.subTest(page=str(page.relative_to(folder))):
                    self.assertEqual(list(pages_test.broken_links(page)), [])

    def test_only_a_link_to_what_is_not_installed_becomes_text(self):
        with tempfile.TemporaryDirectory(prefix="msleaks-docs-") as temporary:
            folder = Path(temporary).resolve()
            page = folder / "page.md"
            page.write_text("")
            for text, wanted in (("a [source](../hooks/cuda.cpp) b", "a source b"), ("[`code`](missing.md#part)", "`code`"),
                                 ("[page](page.md#part)", "[page](page.md#part)"), ("[here](#part)", "[here](#part)"),
                                 ("[web](https://example.org)", "[web](https://example.org)"),
                                 ("```\n[x](missing.md)\n```", "```\n[x](missing.md)\n```")):
                with self.subTest(text=text):
                    self.assertEqual(with_installed_links(text, page, folder), wanted)


if __name__ == "__main__":
    unittest.main()
