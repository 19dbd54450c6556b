"""Tests the pytest plug-in of the package msleaks.

    pytest_test.py BUILD SCRATCH PYTHON     exits with 77 if this Python has no pytest
"""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

BUILD, SCRATCH, PYTHON = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
HERE = Path(__file__).resolve().parent
LIMITED = HERE / "programs/limited_test.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parents[2] / "tools/python"), "PYTHONDONTWRITEBYTECODE": "1",
               "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PYTEST = ["-m", "pytest", "-p", "msleaks.pytest_plugin", "-p", "no:cacheprovider", "-rA", "--tb=short"]
RUN_OPTIONS = ["--no-report", "--reach", "off"]


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110,
                          env=ENVIRONMENT, cwd=SCRATCH, **options)


def line_of(text):
    return next(number for number, line in enumerate(LIMITED.read_text().splitlines(), 1) if text in line)


class Plugin(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        SCRATCH.mkdir(parents=True)

    def recorded(self, *words):
        return run(PYTHON, "-m", "msleaks", "run", *RUN_OPTIONS, "-o", SCRATCH / "run", *PYTEST, *words)

    def plain(self, *words):
        return run(PYTHON, *PYTEST, *words)

    def failed(self, done):
        return set(re.findall(r"^FAILED \S*::(\S+)", done.stdout, re.M))

    def write(self, text):
        path = SCRATCH / "some_test.py"
        path.write_text("import pytest\nkept = []\n" + text)
        return path

    def test_limits(self):
        done = self.recorded(LIMITED)
        self.assertEqual(self.failed(done), {"test_leaves", "test_needs[20]", "test_both", "test_raises", "test_method_leaves"}, done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertIn("msleaks: the test leaves 3.00 MiB, its limit is 1.00 MiB\n"
                      f"  3.00 MiB in 1 block: {LIMITED}:{line_of('def test_leaves()') + 1} in test_leaves\n", done.stdout)
        self.assertIn("msleaks: the test needs 20.00 MiB, its limit is 10.00 MiB\n", done.stdout)
        self.assertIn("KeyError: 'its own error'", done.stdout)
        self.assertEqual(done.stdout.count("the test leaves"), 3)  # a test that raises is not measured
        ranges = run(BUILD / "bin/msleaks", "dump", SCRATCH / "run", "--kind", "range-begin")
        self.assertEqual(ranges.stdout.count('limited_test.py::'), 12)

    def test_without_msleaks_the_limits_are_not_checked(self):
        done = self.plain(LIMITED)
        self.assertEqual(self.failed(done), {"test_raises"}, done.stdout)
        self.assertIn("msleaks: the limits of 11 tests were not checked; run the tests under msleaks: python3 -m msleaks run -m pytest", done.stdout)

    def test_a_limit_for_all_tests(self):
        tests = self.write('def test_small(): bytearray(2 << 20)\n'
                           'def test_large(): bytearray(9 << 20)\n'
                           '@pytest.mark.limit_memory("20MB")\ndef test_its_own(): bytearray(9 << 20)\n')
        done = self.recorded("--msleaks-limit", "5MB", tests)
        self.assertEqual(self.failed(done), {"test_large"}, done.stdout)
        done = self.plain("--msleaks-limit", "5MB", tests)
        self.assertEqual((done.returncode, done.stdout.strip()),
                         (4, "ERROR: --msleaks-limit: run the tests under msleaks: python3 -m msleaks run -m pytest ..."))
        done = self.recorded_again("--msleaks-limit", "many", tests)
        self.assertEqual((done.returncode, done.stdout.strip()),
                         (4, "ERROR: --msleaks-limit: 'many' is no size: write a number with B, KB, MB or GB"))

    def recorded_again(self, *words):
        shutil.rmtree(SCRATCH / "run")
        return self.recorded(*words)

    def test_what_a_test_replaces_does_not_count(self):
        done = self.recorded(self.write(
            'import subprocess\n'
            'pytestmark = pytest.mark.limit_leaks("1MB")\n'
            'def test_run(monkeypatch): monkeypatch.setattr(subprocess, "run", None)\n'
            'def test_path(monkeypatch): monkeypatch.setenv("PATH", "/nowhere")\n'
            'def test_preload(monkeypatch): monkeypatch.delenv("LD_PRELOAD")\n'))
        self.assertEqual((done.returncode, self.failed(done)), (0, set()), done.stdout)

    def test_expected_failures(self):
        done = self.recorded(self.write(
            'pytestmark = pytest.mark.limit_leaks("1MB")\n'
            '@pytest.mark.xfail\ndef test_expected(): kept.append(bytearray(3 << 20))\n'
            '@pytest.mark.xfail(raises=KeyError)\ndef test_other(): kept.append(bytearray(3 << 20))\n'))
        self.assertEqual(self.failed(done), {"test_other"}, done.stdout)
        self.assertRegex(done.stdout, "(?m)^XFAIL some_test.py::test_expected")

    def test_bad_marks(self):
        for mark, message in ('limit_leaks("much")', "'much' is no size"), ("limit_memory()", "the mark limit_memory needs a size"):
            done = self.plain(self.write(f"@pytest.mark.{mark}\ndef test_it(): pass\n"))
            self.assertEqual(done.returncode, 4)
            self.assertRegex(done.stdout, f"(?m)^ERROR: some_test.py::test_it: {message}")
            self.assertNotIn("Traceback", done.stdout)

    def test_what_a_stopped_recording_cannot_tell_fails(self):
        done = self.recorded(self.write('import msleaks\n@pytest.mark.limit_leaks("1MB")\ndef test_it(): assert msleaks.stop()\n'))
        self.assertEqual(self.failed(done), {"test_it"}, done.stdout)
        self.assertIn("msleaks: the limits could not be checked: ", done.stdout)

    def test_sizes(self):
        code = "from msleaks.pytest_plugin import bytes_of\n" \
               "print([bytes_of(size) for size in ('1', '2B', '1KB', '1.5 MiB', '3g', 7)], end='')"
        self.assertEqual(run(PYTHON, "-c", code).stdout, str([1, 2, 1024, 3 << 19, 3 << 30, 7]))


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"skipped: {PYTHON} has no pytest")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
