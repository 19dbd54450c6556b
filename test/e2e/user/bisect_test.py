#!/usr/bin/env python3
"""Tests `msleaks compare --bisect` on a history of 64 commits that this test makes. One commit raises the peak, one leaks, and one
enlarges a block that is freed before the peak. Two commits do not build. The working tree has changes.
   usage: bisect_test.py BUILD SCRATCH
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, Verb, arguments, check, equal, line_of, need  # noqa: E402

SAME, DIFFERS, USAGE, BAD_INPUT = 0, 1, 2, 3
KIB = 1024
COMMITS = 64
PEAK, LEAK, EARLY = 23, 37, 49  # the commits that change the memory
BROKEN = (31, 32) # the commits that do not build. git tries one of them first
COMMAND = ("--", "cc -g -O0 net.c -o net && ./net")
BUILT = ("--build", "cc -g -O0 net.c -o net", "--", "./net")

PROGRAM = """#include <stdlib.h>
#include <string.h>
{lines}
static char *take(size_t bytes) {{
  char *block = malloc(bytes); // block
  memset(block, 1, bytes);
  return block;
}}
int main(void) {{
  char *early = malloc({early}); // early
  early[0] = 1;
  free(early);
  char *rows = take({rows});
  rows[0] = 2;
  free(rows);
  {leak}
  return {broken};
}}
"""


def git(folder, *words):
    done = subprocess.run(["git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", *words], capture_output=True, text=True)
    check(done.returncode == 0, f"git {words}: {done.stderr}")
    return done.stdout.strip()


def program_of(number):
    """Returns the program of a commit. Each commit adds a line at the top, so a place has another line in each commit."""
    return PROGRAM.format(lines="\n".join(f"// line {line}" for line in range(number)), rows=1000 * KIB if number >= PEAK else 500 * KIB,
                          early=400 * KIB if number >= EARLY else 100 * KIB, leak="memset(malloc(3000), 0, 3000);" if number >= LEAK else "",
                          broken="undeclared" if number in BROKEN else "0")


def make_history(folder):
    """Makes a repository with all commits. Returns the hash of each commit."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "sub").mkdir()
    (folder / "sub" / "kept").write_text("")
    (folder / ".gitignore").write_text("net\n")
    commits = []
    for number in range(COMMITS):
        (folder / "net.c").write_text(program_of(number))
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", f"Change number {number}", f"--date=2026-01-02T12:00:{number % 60:02}+00:00")
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits


class Bisect(Verb):
    name = "compare"

    def __init__(self, msleaks, scratch):
        super().__init__(msleaks, scratch)
        self.repository = self.scratch / "repository"
        self.temporary = self.scratch / "tmp"
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(parents=True)
        self.commits = make_history(self.repository)
        (self.repository / "net.c").write_text("this does not compile\n")
        # The folder of this working tree is missing, as if its disk were not mounted. A bisect must not remove git's entry for the tree.
        git(self.repository, "worktree", "add", "--quiet", "--detach", self.scratch / "away")
        shutil.rmtree(self.scratch / "away")
        self.before = self.state()

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.temporary), "MSLEAKS_LOG": ""}

    def start(self, *options, cwd=None, environment=None):
        return subprocess.Popen([self.msleaks.bin / "msleaks", self.name, *options], cwd=cwd or self.repository, text=True,
                                env=environment or self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def call(self, *options, **kwargs):
        process = self.start(*options, **kwargs)
        output, messages = process.communicate(timeout=240)
        self.messages = messages
        return subprocess.CompletedProcess(options, process.returncode, output, messages)

    def refuse_in(self, folder, status, message, *options, environment=None):
        done = self.call(*options, cwd=folder, environment=environment)
        equal(f"status of {options} ({done.stderr})", done.returncode, status)
        lines = [line for line in done.stderr.splitlines() if "warning" not in line]
        check(len(lines) == 1 and message in lines[0] and done.stdout == "", f"{options}: not one line with '{message}': {done.stderr}{done.stdout}")

    def state(self):
        """Returns the parts of the repository that a bisect must not change."""
        return [git(self.repository, *words) for words in
                (("status", "--porcelain"), ("worktree", "list"), ("for-each-ref",), ("rev-parse", "HEAD"), ("diff",))]

    def expect_left_alone(self, what):
        equal(f"the repository after {what}", self.state(), self.before)
        equal(f"temporary files after {what}", os.listdir(self.temporary), [])
        check(not (self.repository / "net").exists(), f"{what} built in the user's working tree")

    def expect_commit(self, number, metric, *options, command=COMMAND):
        said = json.loads(self.expect(DIFFERS, f"--metric {metric}", "--bisect", self.commits[0], self.commits[-1], *options, "--json", *command))
        equal(f"first bad commit for {metric}", said["bisect"]["first_bad"],
              {"commit": self.commits[number], "subject": f"Change number {number}", "author_date": f"2026-01-02 12:00:{number % 60:02} +0000"})
        equal("the runs that are compared", said["runs"], [self.commits[number - 1], self.commits[number]])
        equal("metric", said["bisect"]["metric"], metric)
        return said


def expect_peak(bisect):
    said = bisect.expect_commit(PEAK, "peak")
    equal("change of the peak", said["peak"]["change_bytes"], 500 * KIB)
    equal("figures", [said["bisect"][side]["bytes"] for side in ("before", "after")], [said["peak"]["before"], said["peak"]["after"]])
    skipped = {tried["commit"] for tried in said["bisect"]["tried"] if tried["verdict"] == "skipped"}
    check(skipped and skipped <= {bisect.commits[number] for number in BROKEN}, f"skipped: {skipped}")
    check("is skipped: the command failed with status 1: " in bisect.messages, f"the skip is not said: {bisect.messages}")
    check("committed code only" in bisect.messages, f"the changed tree is not said: {bisect.messages}")
    check(len(said["bisect"]["tried"]) <= 2 + 6 + 4, f"too many commits were tried: {said['bisect']['tried']}")
    bisect.expect_left_alone("--metric peak")


def expect_text(bisect):
    """Bisects from a commit to the next one, in a subfolder of the repository. The option -o stores the results."""
    kept = bisect.scratch / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    shown = bisect.call("--bisect", bisect.commits[PEAK - 1], bisect.commits[PEAK], "-o", kept, "--build", "cc -g ../net.c -o ../net", "--", "../net",
                        cwd=bisect.repository / "sub")
    equal(f"status of the text ({shown.stdout}{shown.stderr})", shown.returncode, DIFFERS)
    text = shown.stdout
    check(text.startswith("The peak changed in this commit: ") and f"  commit   {bisect.commits[PEAK]}\n  subject  Change number {PEAK}\n" in text, text)
    flat = " ".join(text.split())
    check("B needs 500.0 KiB more at its peak: 500.0 KiB of it at net.c:" in flat, text)
    check("msleaks-bisect-" not in text, f"paths of the temporary working tree: {text}")
    check("msleaks-bisect-" not in (kept / "after.json").read_text(), "such paths in the kept result")
    again = bisect.call(kept / "before.json", kept / "after.json")
    check("B needs 500.0 KiB more at its peak" in " ".join(again.stdout.split()), again.stdout + again.stderr)
    bisect.expect_left_alone("a bisect in a folder")


def expect_leaks(bisect):
    said = bisect.expect_commit(LEAK, "leaks", "--metric", "leaks", command=BUILT)
    equal("change of the leaks", said["leaks"]["change_bytes"], 3000)


def expect_place(bisect):
    """The option --metric place gets the line that the place has in the bad commit, here the last one."""
    last = bisect.scratch / "last.c"
    last.write_text(program_of(COMMITS - 1))
    block = f"net.c:{line_of(last, '// block')}"
    said = bisect.expect_commit(PEAK, f"place {block}", "--metric", "place", block, command=BUILT)
    equal("figures of the place", [said["bisect"][side]["bytes"] for side in ("before", "after")], [500 * KIB, 1000 * KIB])


def expect_no_change(bisect):
    text = bisect.expect(SAME, "no change", "--bisect", bisect.commits[1], bisect.commits[3], *COMMAND)
    check(text.startswith("The peak does not differ: ") and text.count("\n") == 1, text)


def expect_candidates(bisect):
    """If the commits around the change do not build, the bisect names all of them."""
    command = ("--", "sh", "-c", f"! grep -q 'line {PEAK - 2}$' net.c || grep -q 'line {PEAK}$' net.c || exit 1; cc -g net.c -o net && ./net")
    said = json.loads(bisect.expect(DIFFERS, "skipped around the change", "--bisect", bisect.commits[PEAK - 3], bisect.commits[PEAK + 3], "--json", *command))
    equal("first bad commit", said["bisect"]["first_bad"], None)
    equal("candidates", {candidate["commit"] for candidate in said["bisect"]["candidates"]}, set(bisect.commits[PEAK - 1:PEAK + 2]))
    equal("change of the peak", said["peak"]["change_bytes"], 500 * KIB)


def expect_skip_without_program(bisect):
    """If the command runs no program of the working tree, the commit is skipped. Its memory would be that of the shell."""
    command = ("--", f"if grep -q 'line {PEAK}$' net.c || ! grep -q 'line {PEAK - 1}$' net.c; then cc -g net.c -o net && ./net; else sort net.c; fi")
    said = json.loads(bisect.expect(DIFFERS, "a commit without the program", "--bisect", bisect.commits[PEAK - 2], bisect.commits[PEAK + 2], "--json", *command))
    tried = [tried for tried in said["bisect"]["tried"] if tried["verdict"] == "skipped"]
    equal("skipped", [(skip["commit"], skip["failure"]) for skip in tried],
          [(bisect.commits[PEAK], "the command ran no program of the working tree")])


def expect_refusals(bisect):
    first, last = bisect.commits[0], bisect.commits[-1]
    elsewhere = bisect.scratch / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    limited = {**bisect.environment(), "GIT_CEILING_DIRECTORIES": str(bisect.scratch)}
    bisect.refuse_in(elsewhere, BAD_INPUT, "git repository", "--bisect", first, last, *COMMAND, environment=limited)
    nowhere = {**bisect.environment(), "PATH": "/nowhere"}
    bisect.refuse_in(None, BAD_INPUT, "PATH has no git", "--bisect", first, last, *COMMAND, environment=nowhere)
    bisect.refuse_in(None, BAD_INPUT, "'unknown' is no commit", "--bisect", "unknown", last, *COMMAND)
    bisect.refuse_in(None, BAD_INPUT, "is no ancestor of", "--bisect", last, first, *COMMAND)
    bisect.refuse_in(None, BAD_INPUT, "the same commit", "--bisect", last, "HEAD", *COMMAND)
    bisect.refuse_in(None, BAD_INPUT, "net.c:9999: neither GOOD nor BAD", "--bisect", first, last, "--metric", "place", "net.c:9999", *COMMAND)
    bisect.refuse_in(None, BAD_INPUT, "GOOD (", "--bisect", bisect.commits[BROKEN[0]], last, *COMMAND)
    forgetful = ("--", 'rm -f "$(git rev-parse --git-dir)/BISECT_START" && cc -g net.c -o net && ./net')
    bisect.refuse_in(None, BAD_INPUT, "git bisect cannot go on: ", "--bisect", first, last, *forgetful)
    bisect.refuse_in(None, USAGE, "--metric size", "--bisect", first, last, "--metric", "size", *COMMAND)
    bisect.refuse_in(None, USAGE, "step:3 has no leaks", "--bisect", first, last, "--metric", "leaks", "--at", "step:3", *COMMAND)
    bisect.refuse_in(None, USAGE, "needs a command", "--bisect", first, last)
    bisect.refuse_in(None, USAGE, "need --bisect", first, last, *COMMAND)
    bisect.expect_left_alone("the refusals")


def expect_stop(bisect):
    """A signal must end the bisect and its command. No temporary file may remain."""
    began = bisect.scratch / "began"
    began.unlink(missing_ok=True)
    process = bisect.start("--bisect", bisect.commits[0], bisect.commits[-1], "--", "sh", "-c", f"touch {began}; exec sleep 600")
    while not began.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    equal("end by Ctrl-C", process.returncode, -signal.SIGINT)
    bisect.expect_left_alone("Ctrl-C")


def main():
    build, scratch = arguments("build", "scratch")
    need("git")
    need("cc")
    os.makedirs(scratch, exist_ok=True)
    scratch = tempfile.mkdtemp(dir=scratch)
    try:
        bisect = Bisect(Msleaks(build), scratch)
        for expect in (expect_peak, expect_text, expect_leaks, expect_place, expect_no_change, expect_candidates, expect_skip_without_program,
                       expect_refusals, expect_stop):
            begin = time.monotonic()
            expect(bisect)
            print(f"{expect.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


main()
