"""Tests the package msleaks: its functions with and without msleaks-run, and `python -m msleaks`.

    package_test.py BUILD SCRATCH PYTHON [unittest options]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

BUILD, SCRATCH = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
# The argument may be a script that starts Python, such as a shim of pyenv.
PYTHON = subprocess.run([sys.argv[3], "-c", "import sys; print(sys.executable)"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
BIN = BUILD / "bin"
HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[2] / "tools/python"
sys.path.insert(0, str(PACKAGE))
from msleaks import _tools  # noqa: E402

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{BIN}:{os.environ['PATH']}"}
# Small objects of Python come from arenas. All allocations of the test programs are larger than this.
SMALL = 900_000


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=110,
                          **{"env": ENVIRONMENT, **options})


class Case(unittest.TestCase):
    def folder(self):
        folder = SCRATCH / self.id().split(".", 1)[1]
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def expect(self, status, *command, **options):
        done = run(*command, **options)
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done

    def record(self, program, *arguments, options=(), status=0):
        """Records a program. Returns its output and the folder of the run."""
        folder = self.folder()
        done = self.expect(status, BIN / "msleaks-run", "--no-report", *options, "-o", folder, "--", PYTHON, HERE / "programs" / program, *arguments)
        return done.stdout, folder

    def events(self, folder, kinds):
        done = self.expect(0, BIN / "msleaks", "dump", folder, "--json", "--kind", kinds)
        return [json.loads(line) for line in done.stdout.splitlines()]


NAMES = "step,mark,range-begin,range-end,owner-push,owner-pop"


def text_of(event):
    """Returns the event as a short text. Ranges with a number have `#`."""
    kind, begun = event["event"], "#" if event.get("id") else ""
    return f"{kind}{begun} {event['number'] if kind == 'Step' else event.get('label') or ''}".strip()


class Functions(Case):
    def test_texts(self):
        _, folder = self.record("names.py", "texts")
        self.assertEqual([text_of(event) for event in self.events(folder, NAMES)], [
            "Step 0", "Step 7", "Step 8", "Mark loaded é", "RangeBegin outer", "RangeBegin inner", "Mark within", "RangeEnd",
            "RangeEnd", "OwnerPush model@layer", "Mark owned", "OwnerPop"])

    def owners_in(self, folder):
        """Returns {size of an allocation: its owner}."""
        owners, found = {}, {}
        for event in self.events(folder, "owner-push,owner-pop,alloc"):
            stack = owners.setdefault(event["tid"], [])
            if event["event"] == "OwnerPush":
                stack.append(event["label"])
            elif event["event"] == "OwnerPop":
                stack.pop()
            elif event["heap"] == "host" and event["size"] > SMALL:
                found[event["size"] - 1] = stack[-1] if stack else None  # a bytearray has one more byte
        return found

    def test_owners_of_functions_generators_and_coroutines(self):
        _, folder = self.record("names.py", "owners")
        names = ["function", *["generator"] * 2, *["coroutine"] * 2, *["items"] * 3, *["function"] * 2]
        wanted = {1_000_000 + number: name for number, name in enumerate(names)}
        wanted.update({1_100_000 + number: None for number in range(9)})
        self.assertEqual(self.owners_in(folder), wanted)

    def test_describers_name_those_around_them(self):
        _, folder = self.record("names.py", "describers")
        deep = "train@encoder@" + "@".join(f"d{depth}" for depth in range(20))
        self.assertEqual(self.owners_in(folder), {1_000_000: "train", 1_000_001: "train@encoder", 1_000_002: deep, 1_000_003: "train",
                                                  1_000_004: "other"})

    def test_describers_name_blocks_that_exist(self):
        output, folder = self.record("names.py", "described_blocks")
        self.assertEqual(output.splitlines(), ["a text is needed, not NoneType", "a text is needed, not int",
                                               "memoryview: a bytes-like object is required, not 'int'"])
        report = json.loads(self.expect(0, BIN / "msleaks", "report", folder, "--json").stdout)
        rows = next(section for section in report["sections"] if section["name"] == "owners")["rows"]
        at_peak = {name: bytes_at_peak for name, bytes_at_peak, *_ in rows if name not in ("imports", "train", None)}
        self.assertEqual(at_peak, {"cache": 1_000_001, "second": 1_000_003, "train@batch": 1_000_002, "train@first": 0})

    def test_ranges_of_coroutines_and_generators(self):
        _, folder = self.record("names.py", "spans")
        events = self.events(folder, NAMES)
        self.assertEqual([text_of(event) for event in events], [
            "RangeBegin# coroutine", "RangeBegin# block", "RangeEnd#", "Mark one has ended", "RangeEnd#", "RangeBegin# generator",
            "Mark in the generator", "RangeEnd#"])
        self.assertEqual([event["id"] for event in events if "id" in event], [1, 2, 1, 2, 3, 3])

    def test_start_and_stop(self):
        _, folder = self.record("names.py", "switches")
        sizes = {event["size"] - 1 for event in self.events(folder, "alloc") if event["heap"] == "host" and event["size"] > SMALL}
        self.assertEqual(sizes, {1_000_000, 1_000_001, 1_000_002})

    def test_start_in_a_session_that_is_paused(self):
        _, folder = self.record("late_start.py", options=["--start-paused"])
        self.assertEqual([text_of(event) for event in self.events(folder, NAMES)], ["Mark recorded"])

    def test_watches(self):
        _, folder = self.record("names.py", "watches")
        changes = {(event["name"], event["operation"], event["offset"], event["size"]) for event in self.events(folder, "changed")}
        self.assertEqual(changes, {("block", "first", 5, 1), ("tensor", "first", 8, 2), ("part", "second", 50, 1), ("address", "third", 0, 1)})

    def test_a_snapshot_can_be_read_while_the_program_runs(self):
        folder = self.folder()
        command = [BIN / "msleaks-run", "--no-report", "-o", folder, "--", PYTHON, HERE / "programs/names.py", "snapshots"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
            self.assertEqual(process.stdout.readline(), "True\n")
            done = run(BIN / "msleaks", "report", folder, "--at", "mark:here", "--json")
            alive = json.loads(done.stdout)["alive_at_end"]["by_site"]
            self.assertIn(1_000_001, [row["bytes"] for row in alive])
            process.stdin.write("\n")
            process.stdin.close()
            self.assertEqual(process.stdout.read(), "True\n")
        self.assertEqual(process.returncode, 0)

    def test_cells_of_notebooks(self):
        ran = f"{3 << 20}\n"
        failed = "ZeroDivisionError('division by zero')\nfailed []\n"
        done = self.expect(0, PYTHON, HERE / "programs/cells.py")
        self.assertEqual((done.stdout, done.stderr.count("msleaks: nothing is measured")), (ran + failed, 2))
        output, folder = self.record("cells.py")
        self.assertEqual(output, f"{ran}msleaks: the cell needs 23.00 MiB, and leaves 3.00 MiB\n"
                                 f"  3.00 MiB in 1 block: <ipython-input-1-1>:1 in <module>\n{failed}")
        self.assertEqual([text_of(event) for event in self.events(folder, "range-begin")], ["RangeBegin training", "RangeBegin cell"])

    def test_decorated_code_behaves_as_before(self):
        plain = self.expect(0, PYTHON, HERE / "programs/behaviour.py", "plain")
        self.assertEqual(plain.stdout.count("\n"), 5)
        self.assertEqual(self.expect(0, PYTHON, HERE / "programs/behaviour.py", "decorated").stdout, plain.stdout)
        recorded, _ = self.record("behaviour.py", "decorated")
        self.assertEqual(recorded, plain.stdout)

    def test_decorated_objects_that_are_no_plain_functions(self):
        plain = self.expect(0, PYTHON, HERE / "programs/decorated.py")
        lines = plain.stdout.splitlines()
        refused = [f"TypeError a function is needed, not {name}: decorate the function inside, or use `with`" for name in ("type", "property", "partial")]
        self.assertEqual(lines[:9], ["(1, 2, 'Methods', 'Methods')", *refused, "4", "closed", "0", "None", "{'RecursionError'}"])
        self.assertEqual([line.split()[0] for line in lines[9:]], [*["ValueError"] * 4, *["TypeError"] * 4, "False"], plain.stderr)
        folder = self.folder()
        done = self.expect(0, BIN / "msleaks-run", "--no-report", "-o", folder, "--", PYTHON, HERE / "programs/decorated.py")
        self.assertEqual((done.stdout, done.stderr), (plain.stdout, ""))

    def test_a_killed_collector_is_no_error(self):
        program = "import msleaks, os, signal\nparent = os.getppid()\nos.kill(parent, signal.SIGKILL)\nwhile os.getppid() == parent: pass\n" \
                  "msleaks.step()\nprint(msleaks.stop(), msleaks.take_snapshot('x'))"
        done = run(BIN / "msleaks-run", "--no-report", "-o", self.folder(), "--", PYTHON, "-c", program)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGKILL, "False False\n", ""))


class Inert(Case):
    """Without msleaks-run, the package has no effect."""

    def test_an_import_loads_only_the_package(self):
        program = "import sys; before = set(sys.modules); import msleaks; print(*sorted(set(sys.modules) - before))"
        loaded = self.expect(0, PYTHON, "-c", program).stdout.split()
        small = {"__future__", "_operator", "itertools", "operator"}
        self.assertEqual([name for name in loaded if name.split(".")[0] != "msleaks" and name not in small], [])

    def test_functions_do_nothing(self):
        for topic in "texts", "owners", "describers", "spans", "watches":
            done = self.expect(0, PYTHON, HERE / "programs/names.py", topic)
            self.assertEqual(done.stdout + done.stderr, "")
        done = self.expect(0, PYTHON, "-c", "import msleaks; print(msleaks.start(), msleaks.stop(), msleaks.is_recording(), msleaks.take_snapshot('x'))")
        self.assertEqual((done.stdout, done.stderr), ("False False False False\n", ""))

    def test_a_decorator_returns_the_function_itself(self):
        self.expect(0, PYTHON, "-c", "import msleaks\nfor scope in msleaks.range, msleaks.owner, msleaks.describer: assert scope('x')(len) is len")

    def test_wrong_arguments_are_refused_as_under_msleaks(self):
        program = """
import msleaks
for call in (lambda: msleaks.mark(5), lambda: msleaks.range(None), lambda: msleaks.owner(b"x"), lambda: msleaks.step(-1),
             lambda: msleaks.step(2**64), lambda: msleaks.step("1"), lambda: msleaks.range(len), lambda: msleaks.watcher.watch(5, "x"),
             lambda: msleaks.watcher.watch(object(), "x"), lambda: msleaks.watcher.watch(b"", "x"), lambda: msleaks.watcher.watch(b"x", 5),
             lambda: msleaks.watcher.watch(memoryview(b"12345")[::2], "x")):
    try:
        call()
        print("accepted")
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
"""
        plain = self.expect(0, PYTHON, "-c", program).stdout
        self.assertEqual(plain.count("\n"), 12)
        self.assertNotIn("accepted", plain)
        self.assertEqual(self.expect(0, BIN / "msleaks-run", "--no-report", "-o", self.folder(), "--", PYTHON, "-c", program).stdout, plain)


class CommandLine(Case):
    """`python -m msleaks`."""

    def module(self, *arguments, **options):
        return run(PYTHON, "-m", "msleaks", *arguments, **options)

    def test_runs_a_script(self):
        script = self.folder()
        script.mkdir(parents=True)
        (script / "exit.py").write_text("import sys; print(sys.executable, sys.argv); sys.exit(7)")
        done = self.module("run", "--no-report", "-o", script / "run", script / "exit.py", "-o", "--", "x")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, f"{PYTHON} {[str(script / 'exit.py'), '-o', '--', 'x']}\n", ""))
        self.assertTrue((script / "run/manifest.json").exists())

    def test_runs_a_module_and_code(self):
        folder = self.folder()
        done = self.module("run", "--no-report", "-o", folder, "-m", "json.tool", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("usage", done.stdout)
        shutil.rmtree(folder)
        done = self.module("run", "--no-report", f"--output={folder}", "--", "-X", "dev", "-c", "import sys; print(sys.flags.dev_mode)")
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"))

    def test_passes_a_signal_on(self):
        done = self.module("run", "--no-report", "-o", self.folder(), "-c", "import os; os.kill(os.getpid(), 15)")
        self.assertEqual(done.returncode, -signal.SIGTERM)

    def test_wrong_options(self):
        for words in ["--unknown", "x.py"], ["--ring-kib", "1", "x.py"], []:
            done = self.module("run", *words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_passes_other_verbs_on(self):
        folder = self.folder()
        self.module("run", "--no-report", "-o", folder, "-c", "pass")
        for words in ["report", folder], ["dump", folder, "--json"], ["report", folder / "missing"], ["--version"], ["check", folder]:
            done, wanted = self.module(*words), run(BIN / "msleaks", *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (wanted.returncode, wanted.stdout, wanted.stderr))

    def test_a_launcher_that_does_not_describe_its_options(self):
        folder = self.folder()
        folder.mkdir(parents=True)
        launcher = folder / "msleaks-run"
        launcher.write_text("#!/bin/sh\nexit 2\n")
        launcher.chmod(0o755)
        done = self.module("run", "x.py", env={**ENVIRONMENT, "PATH": f"{folder}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (
            2, f"msleaks: {launcher} --describe-options failed with the status 2: is it the program of this msleaks?\n"))

    def test_programs_that_are_missing(self):
        for words in ["run", "x.py"], ["report", "x"]:
            done = self.module(*words, env={**ENVIRONMENT, "PATH": "/nowhere"})
            self.assertEqual((done.returncode, done.stderr.count("\n")), (127, 1), done.stderr)
            self.assertIn("PATH", done.stderr)

    def test_signals_that_python_ignores_are_not_ignored_in_the_program(self):
        folder = self.folder()
        folder.mkdir(parents=True)
        tool = folder / "msleaks"
        tool.write_text("#!/bin/sh\ngrep SigIgn /proc/self/status\n")
        tool.chmod(0o755)
        done = self.module("report", env={**ENVIRONMENT, "PATH": f"{folder}:{os.environ['PATH']}"}, restore_signals=True)
        ignored = int(done.stdout.split()[1], 16)
        self.assertEqual(ignored & (1 << signal.SIGPIPE - 1), 0)

    def test_splits_the_words(self):
        with_value, flags = {"-o", "--output", "--hooks"}, {"--progress"}
        for words, options in (
            ("train.py -o x", 0), ("-o RUN train.py", 2), ("--output=RUN train.py", 1), ("-oRUN train.py", 1), ("--progress -m x", 1),
            ("-u train.py", 0), ("--hooks -m -m x", 2), ("--new train.py", 1), ("-h", 1), ("-o", 1)):
            words = words.split()
            self.assertEqual(_tools.split(words, with_value, flags), (words[:options], words[options:]))
        self.assertEqual(_tools.split(["-o", "RUN", "--", "-x"], with_value, flags), (["-o", "RUN"], ["-x"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
