"""Installs the wheel into a fresh virtual environment, and uses it there. Only the environment's own programs are in PATH.

    wheel_test.py WHEEL SCRATCH [PYTHON]     PYTHON: the interpreter of the environment [that of the test]
"""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

WHEEL, SCRATCH = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PYTHON = sys.argv[3] if len(sys.argv) > 3 else sys.executable
VENV = SCRATCH / "venv"
TRAIN = """\
import os, sys
import msleaks

@msleaks.owner("model")
def layer():
    return bytearray(20_000_000)

def main():
    kept = layer()
    msleaks.mark("made")
    print(msleaks.is_recording(), sys.argv[1:], len(kept))
    sys.stdout.flush()
    os._exit(7)

main()
"""
LINE = TRAIN[: TRAIN.index("bytearray")].count("\n") + 1


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                          **{"cwd": SCRATCH, "env": {"PATH": str(VENV / "bin"), "HOME": str(SCRATCH)}, **options})


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        SCRATCH.mkdir(parents=True)
        for command in [PYTHON, "-m", "venv", VENV], [VENV / "bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check", WHEEL]:
            done = run(*command, env=os.environ)
            if done.returncode:
                sys.exit(f"{command}: {done.stdout}{done.stderr}")
        (SCRATCH / "train.py").write_text(TRAIN)
        cls.python = VENV / "bin/python"

    def check_run(self, *command):
        """Records the script by this command, and checks its output and its report."""
        folder = SCRATCH / "run"
        shutil.rmtree(folder, ignore_errors=True)
        done = run(*command[:1], *[str(word).replace("RUN", str(folder)) for word in command[1:]])
        self.assertEqual((done.returncode, done.stdout), (7, "True ['--epochs', '3'] 20000000\n"), done.stderr)
        self.assertIn("msleaks report", done.stderr)
        report = run(self.python, "-m", "msleaks", "report", folder, "--json")
        self.assertIn(report.returncode, (0, 1), report.stderr)
        result = json.loads(report.stdout)
        place = max(result["peak"]["by_site"], key=lambda row: row["bytes"])
        self.assertEqual((place["site"]["file"], place["site"]["line"], place["bytes"]), (str(SCRATCH / "train.py"), LINE, 20_000_001))
        self.assertTrue(result["session"]["complete"])
        owners = run("msleaks", "report", folder, "--section", "owners", executable=VENV / "bin/msleaks")
        self.assertIn("model", owners.stdout)

    def test_no_compiler_is_found(self):
        self.assertEqual([name for name in ("clang", "clang-19", "clang-22", "cc", "msleaks-clang") if shutil.which(name, path=VENV / "bin")], [])

    def test_python_m_msleaks(self):
        self.check_run(self.python, "-m", "msleaks", "run", "-o", "RUN", "train.py", "--epochs", "3")

    def test_the_script_msleaks_run(self):
        self.check_run(VENV / "bin/msleaks-run", "-o", "RUN", "--", "python", "train.py", "--epochs", "3")

    def test_the_script_msleaks(self):
        self.check_run(VENV / "bin/msleaks", "run", "-o", "RUN", "--", "python", "train.py", "--epochs", "3")

    def test_exit_statuses(self):
        for words, status in (["report", "missing"], 3), (["report", "--unknown"], 2), (["--version"], 0):
            done = run(VENV / "bin/msleaks", *words)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout.split()[1], WHEEL.name.split("-")[1])
        self.assertEqual(run(VENV / "bin/msleaks-run", "--unknown", "x").returncode, 2)

    def test_the_programs_load_the_libraries_of_the_wheel(self):
        package = Path(run(self.python, "-c", "import msleaks; print(msleaks.__path__[0])").stdout.strip())
        for program in "msleaks", "msleaks-run":
            listed = run(package / "_native/bin" / program, env={"LD_TRACE_LOADED_OBJECTS": "1", "LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu"}).stdout
            loaded = {words[0]: Path(words[2]).resolve() for words in map(str.split, listed.splitlines()) if len(words) > 2}
            for name, path in loaded.items():
                bundled = package / "_native/lib/bundled" / name
                self.assertTrue(path == bundled.resolve() or not bundled.exists(), f"{program} loads {path}")
            system = {name.split(".so")[0] for name, path in loaded.items() if package.resolve() not in path.parents}
            self.assertLessEqual(system, {"libc", "libm", "libstdc++", "libgcc_s", "libpthread", "libdl"})

    def test_pytest_finds_the_plug_in(self):
        program = "import importlib.metadata as m; print([(e.name, e.value) for e in m.distribution('msleaks').entry_points if e.group == 'pytest11'])"
        self.assertEqual(run(self.python, "-c", program).stdout, "[('msleaks.pytest_plugin', 'msleaks.pytest_plugin')]\n")

    def test_record_has_each_file(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            record = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
            rows = {}
            for row in wheel.read(record).decode().splitlines():
                name, digest, size = row.split(",")
                rows[name] = (digest, size)
            self.assertEqual(set(rows), set(wheel.namelist()))
            for name, (digest, size) in rows.items():
                if name != record:
                    content = wheel.read(name)
                    found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, size), (f"sha256={found}", str(len(content))))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
