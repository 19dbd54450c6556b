#!/usr/bin/env python3
"""Tests that each rule of scripts/check-words.py reports a small wrong text, and does not report a right one."""
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/check-words.py"
specification = importlib.util.spec_from_file_location("check_words", SCRIPT)
check_words = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_words)

LONG = " ".join(["go"] * 26) + "."
SHORT = " ".join(["go"] * 25) + "."


def lines(name, text):
    return [line for line, _ in check_words.findings(name, text)]


def opener(sentence):
    return check_words.lacks_main_verb(sentence)


class Openers(unittest.TestCase):
    def test_without_a_main_verb(self):
        for text in ("Of kernels that count themselves: where those of its module do so.",
                     "Of a wrapper's call: a struct that is written to where the caller wants it.",
                     "Of 64 bits.",
                     "What a thread does when its ring is full.",
                     "What the runtime is told of --watch.",
                     "What `msleaks/api.h` calls: `__msl_step`.",
                     "What is known of the report by now; null: nothing.",
                     "Who frees it, and where.",
                     "**Who points to what.**",
                     "who asked"):
            self.assertTrue(opener(text), text)

    def test_with_a_main_verb(self):
        for text in ("Of the 37 bugs, 36 are found.",
                     "Of four runs the report shows one.",
                     "What cannot be recorded is counted.",
                     "What a callback left stays for the malloc inside.",
                     "Who frees the block is unknown.",
                     "What is lost?",
                     "Often it is nothing.",
                     "The caller frees it.",
                     "what-if curves"):
            self.assertIsNone(opener(text), text)

    def test_behind_the_name_of_a_file(self):
        self.assertTrue(opener("analysis/large.cpp: what the analyzer says."))
        self.assertIsNone(opener("analysis/large.cpp: the analyzer of large blocks."))


class Sentences(unittest.TestCase):
    def test_length(self):
        self.assertEqual(lines("a.md", LONG), [1])
        self.assertEqual(lines("a.md", SHORT), [])

    def test_each_sentence_has_its_own_line(self):
        self.assertEqual(lines("a.md", f"One is short.\nTwo as well. {LONG}\n"), [2])

    def test_ends(self):
        half = " ".join(["go"] * 16)
        self.assertEqual(lines("a.md", f"{half}. {half}.\n"), [])
        self.assertEqual(lines("a.md", f"{half}, e.g. {half}.\n"), [1])
        self.assertEqual(lines("a.md", f"{half} a.cpp {half}.\n"), [1])
        self.assertEqual(lines("a.md", f"{half} … {half}.\n"), [1])

    def test_code_is_one_word(self):
        self.assertEqual(lines("a.md", " ".join(["go"] * 24) + " `a b c d`.\n"), [])

    def test_targets_of_links_are_no_words(self):
        self.assertEqual(lines("a.md", " ".join(["go"] * 24) + " [b](c/d.md).\n"), [])


class Pages(unittest.TestCase):
    def test_long_lines(self):
        wide = "a" * 100 + " " + "b" * 40
        self.assertEqual(lines("a.md", wide), [1])
        self.assertEqual(lines("a.md", wide[:-1]), [])
        self.assertEqual(lines("a.md", f"```\n{wide}\n```\n"), [2])
        self.assertEqual(lines("a.md", f"| {wide} | b |\n"), [])
        self.assertEqual(lines("a.md", f"| {wide} | {wide} |\n"), [1])
        self.assertEqual(lines("a.md", f"| {wide} | [b](docs/{'c' * 140}.md) |\n"), [])

    def test_code_blocks_have_no_sentences(self):
        self.assertEqual(lines("a.md", f"```\nOf it: this.\n{LONG[:130]}\n```\nOf it: this.\n"), [5])
        self.assertEqual(lines("a.md", f"Run it:\n\n    Of it: this\n\nOf it: this.\n"), [5])
        self.assertEqual(lines("a.md", f"- go\n\nRun it:\n\n    1. Of it: this\n       Of it: this\n"), [])

    def test_items_and_cells_are_blocks_of_their_own(self):
        half = " ".join(["go"] * 16)
        self.assertEqual(lines("a.md", f"- {half}\n- {half}\n"), [])
        self.assertEqual(lines("a.md", f"- {half}\n  {half}\n"), [1])
        self.assertEqual(lines("a.md", f"- a\n\n    {half}\n    {half}\n"), [3])
        self.assertEqual(lines("a.md", f"| {half} | {half} |\n"), [])

    def test_headings_and_labels_need_no_verb(self):
        self.assertEqual(lines("a.md", "# What it answers\n\n| what | b |\n|---|---|\n| of the block | who asked |\n"), [])
        self.assertEqual(lines("a.md", "| a | b |\n|---|---|\n| c | of a device: what its driver says |\n"), [3])
        self.assertEqual(lines("a.md", "| a | b |\n|---|---|\n| c | What it has. |\n"), [3])


class Comments(unittest.TestCase):
    def test_c(self):
        self.assertEqual(lines("a.cpp", "// What it holds.\nint a; // Of b: c.\n/* Who frees it. */\n"), [1, 2, 3])
        self.assertEqual(lines("a.h", 'auto a = "// Of b: c.";\nauto c = R"(\n// Of b: c.\n)";\nchar d = \'"\'; // Of b: c.\n'), [5])
        self.assertEqual(lines("a.cpp", "int a = 10'000; // Of nobody's block: c.\n"), [1])
        self.assertEqual(lines("a.def", "/* A table.\n *\n * Of b: c. */\n"), [3])

    def test_c_labels(self):
        self.assertEqual(lines("a.h", "int a; // of the block, from 0\n"), [])
        self.assertEqual(lines("a.h", "int a; // of the block: from 0\n// of the block\n"), [1, 2])

    def test_comments_of_several_lines_are_joined(self):
        half = " ".join(["go"] * 16)
        self.assertEqual(lines("a.c", f"// {half}\n// {half}\n"), [1])
        self.assertEqual(lines("a.c", f"// {half}\n\n// {half}\n"), [])
        self.assertEqual(lines("a.c", f"int a; // {half}\n       // {half}\n"), [1])
        self.assertEqual(lines("a.c", f"// {half}\n//   {half} is an example\n"), [])

    def test_python(self):
        self.assertEqual(lines("a.py", '"""What it holds."""\na = "# Of b: c."  # Of b: c.\ndef f():\n    """Who frees it."""\n'), [1, 2, 4])

    def test_the_first_line_of_a_script_is_no_sentence(self):
        self.assertEqual(lines("a.py", '#!/usr/bin/env python3\n"""What it holds."""\n'), [2])

    def test_shell_and_cmake(self):
        self.assertEqual(lines("a.sh", '#!/bin/sh\n# What it does.\necho "# Of b: c." ${a#b} # Of b: c.\n'), [2, 3])
        self.assertEqual(lines("CMakeLists.txt", "# What it does.\n"), [1])
        self.assertEqual(lines("a.cmake", "set(a) # Of b: c.\n"), [1])

    def test_tests_for_tools_are_no_words(self):
        self.assertEqual(lines("a.c", "// RUN: of it: this\n// CHECK-NOT: of it: this\n// NOLINTNEXTLINE: of it: this\n"), [])

    def test_other_files_have_no_words(self):
        self.assertEqual(lines("a.json", "# What it does.\n"), [])


class Program(unittest.TestCase):
    def run_on(self, *paths):
        return subprocess.run([sys.executable, "-B", SCRIPT, *paths], capture_output=True, text=True)

    def test_status_and_output(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "a.md")
            page.write_text("It is right.\n")
            self.assertEqual(self.run_on(folder).returncode, 0)
            page.write_text("It is right.\nOf it: this.\n")
            answer = self.run_on(folder)
            self.assertEqual(answer.returncode, 1)
            self.assertRegex(answer.stdout, r'^\S*a\.md:2: a sentence begins with "Of" and has no main verb, write .*\n$')
            missing = self.run_on(str(Path(folder, "missing")))
            self.assertEqual((missing.returncode, missing.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
