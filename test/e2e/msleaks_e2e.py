"""Contains the common code of the end-to-end tests. It compiles programs with the plugin, runs a program with and without msleaks-run,
and reads the report. Each test is a script. A failed check ends the script with a message. A skipped test prints the reason and
exits with status 77."""
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need(program):
    """Returns the path of a program that is installed on the machine. Skips the test if the program is not installed."""
    return shutil.which(program) or skip(f"no {program} on this machine")


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


class Msleaks:
    """Runs the tools of a build folder or of an installation."""

    def __init__(self, prefix, llvm="22"):
        self.bin = Path(prefix) / "bin"
        self.llvm = llvm

    @functools.cached_property
    def plugin(self):
        return self.output("plugin", "--llvm", self.llvm).strip()

    def output(self, *arguments):
        done = subprocess.run([self.bin / "msleaks", *arguments], stdout=subprocess.PIPE, text=True)
        # Status 1 is no error. It means that the report has findings.
        check(done.returncode in (0, 1), f"msleaks {' '.join(map(str, arguments))}: exit status {done.returncode}")
        return done.stdout

    def compiler(self, language):
        return f"clang-{self.llvm}" if language == "c" else f"clang++-{self.llvm}"

    def compile(self, source, output, *options, flags=("-O2",)):
        """Compiles and links one source file with the plugin."""
        language = "c" if Path(source).suffix == ".c" else "c++"
        standard = "-std=gnu17" if language == "c" else "-std=c++20"
        command = [self.compiler(language), standard, "-g", *flags, f"-fpass-plugin={self.plugin}", source]
        check(subprocess.run([*command, "-o", output, *options]).returncode == 0, f"{source} does not compile")

    def run(self, folder, command, options=(), **kwargs):
        """Runs a command under msleaks-run. Returns the finished process, and its report."""
        shutil.rmtree(folder, ignore_errors=True)
        done = run([self.bin / "msleaks-run", *options, "-o", folder, "--", *command], **kwargs)
        return done, self.report(folder)

    def report(self, folder):
        return Report(json.loads(self.output("report", folder, "--json")))


class Verb:
    """Runs a verb of msleaks as a user would, and checks its exit status."""

    name = None

    def __init__(self, msleaks, scratch):
        self.msleaks, self.scratch = msleaks, Path(scratch)

    def call(self, *options):
        return subprocess.run([self.msleaks.bin / "msleaks", self.name, *options], capture_output=True, text=True)

    def expect(self, status, what, *options):
        """Runs the verb, checks its exit status, and returns its output."""
        done = self.call(*options)
        equal(f"status of {what} ({done.stdout}{done.stderr})", done.returncode, status)
        return done.stdout

    def refuse(self, status, message, *options):
        """Checks that the verb prints one line with this message on stderr, and nothing else."""
        done = self.call(*options)
        equal(f"status of {options}", done.returncode, status)
        check(done.stderr.startswith("msleaks: ") and done.stderr.count("\n") == 1 and message in done.stderr and done.stdout == "",
              f"{options}: not one line with '{message}': {done.stderr}{done.stdout}")


def run(command, **kwargs):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def empty_folder(path):
    """Makes the folder of a test, without what an earlier test has left in it."""
    shutil.rmtree(path, ignore_errors=True)
    Path(path).mkdir(parents=True)
    return Path(path)


def plain_compiler(source):
    """Returns the compiler (gcc or g++) for a program without instrumentation. Only hooks can record its calls."""
    return need("gcc" if str(source).endswith(".c") else "g++")


def build_workload(name, folder, plugin=None, passes=""):
    """Builds a program of bench/workloads, with the plugin if `plugin` is given. `passes` has the plugin's options. If the source cannot
    be downloaded, the test is skipped."""
    command = [REPOSITORY / f"bench/workloads/{name}/build.sh", folder, *([plugin] if plugin else [])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, env={**os.environ, "MSLEAKS_PASS": passes})
    if done.returncode != 0:
        sys.exit(done.returncode)


class Report:
    def __init__(self, json_object):
        self.json = json_object

    @property
    def peak_bytes(self):
        return self.json["peak"]["bytes"]

    def heap_peak_bytes(self, name):
        """Returns the bytes of one heap at its own peak. heaptrack measures the heap "host"."""
        return next((heap["bytes"] for heap in self.json["peak"]["by_heap"] if heap["heap"] == name), 0)

    def rows(self, name):
        """Returns the rows of a section."""
        return next(section["rows"] for section in self.json["sections"] if section["name"] == name)

    def sites(self, part):
        return self.json[part]["by_site"]

    def alive(self):
        """Returns all blocks that were not freed: leaks, suppressed leaks, and blocks of killed processes."""
        leaks = self.json["leaks"]
        return [*leaks["by_site"], *leaks["suppressed"]["by_site"], *self.sites("alive_at_end")]

    def expect_account(self, cut_off=0):
        """Checks that all produced events are stored, and that none was dropped. The end of a process may cut off an event
        of each thread that records then: at most `cut_off` events."""
        events = self.json["events"]
        check(events["produced"] > 0, "no events")
        check(events["produced"] == events["stored"] + events["dropped"], f"events do not add up: {events}")
        check(events["dropped"] <= cut_off, f"events were dropped: {events}")

    def expect_sums(self):
        """Checks that the rows of each list add up to its total."""
        for part in ("peak", "leaks", "alive_at_end"):
            total = sum(row["bytes"] for row in self.sites(part))
            check(total == self.json[part]["bytes"], f"{part}: the sites have {total} bytes, the sum says {self.json[part]['bytes']}")

    def expect_site(self, part, file, line=None, function=None, variable=None, type=None, inlined_into=None, count=None, bytes=None):
        """Returns the row of `peak` or `leaks` with this file and these properties. A value of None matches any value."""
        wanted = {key: value for key, value in dict(line=line, function=function, variable=variable, type=type).items() if value is not None}
        at_place = []
        for row in self.sites(part):
            site = row["site"]
            if not (site["file"] or "").endswith(file):
                continue
            at_place.append(row)
            callers = [step["function"] for step in site["inlined_at"]]
            if all(site[key] == value for key, value in wanted.items()) and inlined_into in (None, *callers):
                if count in (None, row["count"]) and bytes in (None, row["bytes"]):
                    return row
        shown = "\n".join(f"  {r['bytes']} bytes, {r['count']} blocks: {r['site']}" for r in at_place[:10]) or "  none"
        sys.exit(f"FAILED: {part} has no site in {file} with {wanted}, count {count}, bytes {bytes}. Those in that file:\n{shown}")


def equal(what, found, wanted):
    check(found == wanted, f"{what}: {found}, not {wanted}")


def line_of(source, text, nth=0):
    """Finds the lines of a source that contain a text, and returns the number of the nth one. So tests can name code instead of line
    numbers. If the text begins with spaces, the line must begin with the text."""
    lines = [number for number, line in enumerate(Path(source).read_text().splitlines(), 1)
             if (line.startswith(text) if text.startswith(" ") else text in line)]
    check(len(lines) > nth, f"{source} has no line with '{text}'")
    return lines[nth]


def expect_same(plain, watched, stderr=False):
    """Checks that a program behaved the same under msleaks. The program's stderr is comparable only with --no-report."""
    check(plain.returncode == watched.returncode, f"exit status {watched.returncode}, without msleaks {plain.returncode}\n{watched.stderr}")
    check(plain.stdout == watched.stdout, f"other output:\n{watched.stdout}\nwithout msleaks:\n{plain.stdout}")
    check(not stderr or plain.stderr == watched.stderr, f"other messages:\n{watched.stderr}\nwithout msleaks:\n{plain.stderr}")


def arguments(*names):
    """Returns the script's arguments, such as the build folder and a scratch folder. Exits with a usage message if one is missing."""
    if len(sys.argv) < 1 + len(names):
        sys.exit(f"usage: {sys.argv[0]} {' '.join(names).upper()}")
    return [*map(os.path.abspath, sys.argv[1:3]), *sys.argv[3 : 1 + len(names)]]


def need_modules(python, modules):
    """Skips the test if the Python lacks one of the modules."""
    if run([python, "-c", f"import {modules}"]).returncode != 0:
        skip(f"{python} cannot import {modules} (Debian's packages python3-…)")


def torch_test():
    """Returns the msleaks, the scratch folder and the Python of a test with PyTorch. The command line is BUILD SCRATCH [PYTHON]. Without
    PYTHON, it is Debian's interpreter."""
    build, scratch = arguments("build", "scratch")
    python = sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/python3"
    os.makedirs(scratch, exist_ok=True)
    need_modules(python, "torch")
    return Msleaks(build), scratch, python


def expect_faults(modules, faults, expect_fault):
    """Calls expect_fault(msleaks, python, scratch, fault) for these mistakes, or for those that the command line names.

    The command line is BUILD SCRATCH PYTHON [FAULT...]. Skips the test if the Python lacks one of the modules."""
    build, scratch, python = arguments("build", "scratch", "python")
    need_modules(python, modules)
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for fault in sys.argv[4:] or faults:
        expect_fault(msleaks, python, scratch, fault)
