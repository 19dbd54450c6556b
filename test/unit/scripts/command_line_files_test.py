#!/usr/bin/env python3
"""Tests that man pages and completions name every verb and every long option, and that bash can use the completions.

    command_line_files_test.py MSLEAKS MSLEAKS-RUN
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import command_line  # noqa: E402 (it lies in scripts/)

PROGRAMS = sys.argv[1:3]


class Generated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="msleaks-command-line-")
        cls.folder = Path(cls.temporary.name)
        told = []
        for program in PROGRAMS:
            told.append(str(cls.folder / f"{Path(program).name}.json"))
            Path(told[-1]).write_bytes(subprocess.run([program, "--describe-options"], check=True, stdout=subprocess.PIPE).stdout)
        for script, *more in (("man_pages.py", "1.2.3", str(SCRIPTS.parent / "docs")), ("completions.py",)):
            subprocess.run([sys.executable, "-B", str(SCRIPTS / script), *told, *more, str(cls.folder / script)], check=True)
        cls.msleaks, cls.run_program = command_line.read(*told)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def completion(self, name):
        return (self.folder / "completions.py" / name).read_text()

    def commands(self):
        return [*self.msleaks.all(), *self.run_program.all()]

    def long_options(self, command):
        return [name for option in command.options for name in option["names"] if name.startswith("--")]

    def test_there_is_something_to_name(self):
        names = [command.name for command in self.commands()]
        self.assertIn("msleaks profile report", names)
        self.assertIn("--call-stack", self.long_options(self.run_program))
        self.assertGreater(len(names), 20)

    def test_each_shell_knows_each_verb_and_option(self):
        for name, form in (("msleaks.bash", "{}"), ("_msleaks", "{}["), ("msleaks.fish", "-l {} ")):
            text = self.completion(name)
            for command in self.commands():
                with self.subTest(shell=name, command=command.name):
                    self.assertRegex(text, rf"\b{command.path[-1]}\b")
                    for option in self.long_options(command):
                        self.assertIn(form.format(option[2:] if "-l" in form else option), text)

    def test_each_verb_has_a_page_with_its_options(self):
        for command in [self.msleaks, self.run_program, *self.msleaks.commands]:
            page = (self.folder / "man_pages.py" / f"{'-'.join(command.path)}.1").read_text().replace("\\-", "-")
            for below in command.all():
                if len(below.path) - len(command.path) > (0 if command is self.msleaks else 1):
                    continue
                for option in self.long_options(below):
                    with self.subTest(command=below.name, option=option):
                        self.assertIn(f"\\fB{option}\\fR", page)
            for below in command.commands:
                self.assertIn(".SH " + " ".join(below.path[1:]).upper(), page)

    def test_man_takes_the_pages(self):
        if not shutil.which("groff"):
            self.skipTest("there is no groff")
        for page in (self.folder / "man_pages.py").iterdir():
            said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.assertEqual((said.returncode, said.stderr), (0, ""))

    def test_shells_take_the_files(self):
        for shell, option, name in (("bash", "-n", "msleaks.bash"), ("zsh", "-n", "_msleaks"), ("fish", "--no-execute", "msleaks.fish")):
            if shutil.which(shell):
                with self.subTest(shell=shell):
                    subprocess.run([shell, option, self.folder / "completions.py" / name], check=True)

    def bash(self, *words):
        """Returns the completions that bash offers for the last word."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _msleaks; printf "%s\\n" "${COMPREPLY[@]}"'
        said = subprocess.run(["bash", "-c", script, "bash", self.folder / "completions.py/msleaks.bash", *words],
                              check=True, stdout=subprocess.PIPE, text=True)
        return said.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.bash("msleaks", "rep"), ["report"])
        self.assertEqual(self.bash("msleaks", "report", "--so"), ["--sort"])
        self.assertEqual(self.bash("msleaks", "report", "--sort", ""), ["bytes", "count", "age", "place"])
        self.assertEqual(self.bash("msleaks", "profile", "report", "--mac"), ["--machine", "--machine-field"])
        self.assertEqual(self.bash("msleaks-run", "--on-full", "d"), ["drop"])
        self.assertEqual(self.bash("/usr/bin/msleaks", "run", "--on-full", "d"), ["drop"])
        self.assertEqual(self.bash("msleaks", "run", "--", "--on"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
