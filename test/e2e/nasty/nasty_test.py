#!/usr/bin/env python3
"""Tests one group of programs that use memory, threads, processes or libraries in unusual ways. Each program is built with and without
instrumentation. Each build runs with and without msleaks-run. The test compares the outputs and checks the reports.

    nasty_test.py BUILD SCRATCH LLVM GROUP [PROGRAM...]

The modules of groups/ list the programs. case.py explains the description of a program.
"""
import importlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from case import MODES  # noqa: E402
from msleaks_e2e import SKIPPED, arguments, check  # noqa: E402
from observe import Failures, observe_report, watched_command  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
TIMEOUT_S = 120


class Group:
    def __init__(self, build, scratch, llvm):
        self.bin = Path(build) / "bin"
        self.scratch = Path(scratch)
        self.llvm = llvm

    def environment(self, kind):
        """Returns the environment variables of a recipe. CC and CXX are the compilers of this kind of build, PLAIN_CC and PLAIN_CXX
        are clang itself, and SRC is the folder of the programs."""
        names = {"CC": "clang", "CXX": "clang++"}
        found = {}
        for variable, name in names.items():
            found[variable] = str(self.bin / f"msleaks-{name}") if kind == "marked" else f"{name}-{self.llvm}"
        found |= {"PLAIN_CC": f"clang-{self.llvm}", "PLAIN_CXX": f"clang++-{self.llvm}", "AR": f"llvm-ar-{self.llvm}",
                  "SRC": str(PROGRAMS), "MSLEAKS_LLVM": self.llvm}
        return {**os.environ, **found}

    def recipe(self, case):
        if case.recipe:
            return case.recipe
        compiler = "$CC -std=gnu17" if case.name.endswith(".c") else "$CXX -std=c++20"
        return f"{compiler} -g -w -pthread {case.flags} $SRC/{case.name} -o prog {case.libraries}"

    def build(self, case, kind):
        folder = self.scratch / case.label / kind
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        done = subprocess.run(["sh", "-euc", self.recipe(case)], cwd=folder, env=self.environment(kind), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        (folder / "build.log").write_text(done.stdout)
        return done.returncode == 0, done.stdout

    def run(self, case, mode):
        """Runs the program in this mode. Returns the finished process, or None if the process did not end in time, and the run's
        folder."""
        kind, watched = MODES[mode]
        place = self.scratch / case.label
        folder = place / f"run-{mode}"
        shutil.rmtree(folder, ignore_errors=True)
        prefix = [self.bin / "msleaks-run", "--no-report", "-o", folder, "--"] if watched else []
        command = watched_command(case.command, shlex.join(map(str, prefix)))
        # All output goes to files, because a child that outlives the program would keep a pipe open.
        streams = {name: place / f"{name}-{mode}" for name in ("stdin", "stdout", "stderr")}
        streams["stdin"].write_text(case.stdin)
        with open(streams["stdin"]) as stdin, open(streams["stdout"], "wb") as stdout, open(streams["stderr"], "wb") as stderr:
            process = subprocess.Popen(["sh", "-c", command], cwd=place / kind, stdin=stdin, stdout=stdout, stderr=stderr,
                                       start_new_session=True)
            try:
                status = process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return None, folder
        texts = {name: path.read_bytes().decode(errors="replace") for name, path in streams.items() if name != "stdin"}
        return subprocess.CompletedProcess(command, status, **texts), folder

    def try_case(self, case):
        """Builds and runs the program in all modes, and returns the failed checks."""
        failures = Failures()
        with ThreadPoolExecutor(2) as pool:
            built = dict(zip(("plain", "marked"), pool.map(lambda kind: self.build(case, kind), ("plain", "marked"))))
        for kind, (works, text) in built.items():
            failures.expect(works, f"{kind}: build", text)
        if failures:
            return failures
        plain = None
        for mode in case.modes:
            done, folder = self.run(case, mode)
            if not failures.expect(done is not None, f"{mode}: hangs", f"{TIMEOUT_S} s"):
                continue
            plain = plain or done
            expected = case.status if mode == "plain" else plain.returncode
            failures.expect(done.returncode == expected, f"{mode}: status", f"{done.returncode}, not {expected}\n{done.stderr}")
            failures.expect(done.stdout == plain.stdout, f"{mode}: stdout", f"{done.stdout}\nplain:\n{plain.stdout}")
            failures.expect(done.stderr == plain.stderr, f"{mode}: stderr", f"{done.stderr}\nplain:\n{plain.stderr}")
            if MODES[mode][1]:
                observe_report(self.bin, case, mode, folder, plain, failures)
        return failures


def judge(case, failures):
    """Returns None if exactly the expected checks failed, and otherwise a message."""
    seen = set(failures.texts)
    if not case.known:
        return str(failures) if seen else None
    if not seen:
        return f"{case.known} seems to be mended: nothing fails any more. Remove the mark."
    if seen == case.fails:
        return None
    return f"expected to fail ({case.known}) with {sorted(case.fails)}, not so:\n{failures}"


def main():
    build, scratch, llvm, name, *only = sys.argv[1:] if len(sys.argv) > 4 else arguments("build", "scratch", "llvm", "group")
    cases = importlib.import_module(f"groups.{name}").CASES
    labels = [case.label for case in cases]
    check(len(labels) == len(set(labels)), f"two cases of one name: {labels}")
    group = Group(os.path.abspath(build), os.path.abspath(scratch), llvm)
    wrong, skipped = [], []
    for case in cases:
        if only and case.label not in only:
            continue
        if case.root and os.geteuid() != 0:
            skipped.append(case.label)
            continue
        begin = time.monotonic()
        failures = group.try_case(case)
        said = judge(case, failures)
        known = f"fails as known ({case.known}): {', '.join(failures.texts)}"
        state = "FAILED" if said else known if case.known else "as plain"
        print(f"{case.label}: {state}, {time.monotonic() - begin:.1f} s", flush=True)
        if said:
            wrong.append(case.label)
            print(said, flush=True)
        else:
            shutil.rmtree(group.scratch / case.label)
    check(not wrong, f"{', '.join(wrong)}; what they left is in {scratch}")
    if skipped:
        print(f"skipped: {', '.join(skipped)} need root; {len(cases) - len(skipped)} others are as they must be")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
