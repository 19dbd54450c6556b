#!/usr/bin/env python3
"""Tests the search for pointers to blocks in a running process, on demand (`msleaks ctl RUN reach`) and at marks of the program.
   usage: demand_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
READINGS = 20


def line(program, text):
    return next(number for number, code in enumerate((PROGRAMS / program).read_text().splitlines(), 1) if code.endswith(text))


def leaks(msleaks, folder):
    """Returns the leaks of the report as {line: (bytes, reach, confidence, why the reach is unknown)}."""
    findings = json.loads(msleaks.output("report", folder, "--json"))["findings"]
    return {finding["site"]["line"]: (finding["bytes"], finding["evidence"]["reach"], finding["confidence"], finding["evidence"].get("why_unknown"))
            for finding in findings if finding["kind"] == "leak"}


class Server:
    def __init__(self, msleaks, folder, program):
        shutil.rmtree(folder, ignore_errors=True)
        self.msleaks, self.folder = msleaks, folder
        self.watched = subprocess.Popen([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", program],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, text):
        self.watched.stdin.write(text + "\n")
        self.watched.stdin.flush()
        return self.watched.stdout.readline().strip()

    def reach(self):
        done = run([self.msleaks.bin / "msleaks", "ctl", self.folder, "reach"])
        equal("exit status of reach", (done.returncode, done.stderr), (0, ""))
        return done.stdout

    def pid(self):
        return int(Path(f"/proc/{self.watched.pid}/task/{self.watched.pid}/children").read_text().split()[0])


def expect_lost(found, blocks):
    """Checks the lost blocks. The last block may be missing, since an old value in a register may still point to it."""
    number = line("server.c", "// lost")
    equal("lines of leaks", list(found), [number])
    equal("leaks", found[number][1:], ("lost", "proved", None))
    check(blocks - 1 <= found[number][0] // 1000 <= blocks, f"{found[number][0]} bytes are lost, of {blocks} blocks of 1000")


def expect_on_demand(msleaks, scratch):
    program, folder = f"{scratch}/server", f"{scratch}/demand"
    msleaks.compile(PROGRAMS / "server.c", program, "-pthread")
    server = Server(msleaks, folder, program)
    equal("answer", server.tell("lose 10"), "ok")
    known = 0
    for number in range(READINGS):
        told = server.reach()
        check(told.startswith(f"process {server.pid()}: stopped for "), told)
        known += "are not known" not in told
        equal("answer", server.tell("go on"), "ok")
    check(known >= READINGS // 2, f"only {known} of {READINGS} readings say what is lost: {told}")
    while "are not known" in server.reach():
        time.sleep(0.01)
    expect_lost(leaks(msleaks, folder), 10)
    equal("answer", server.tell("lose 5"), "ok")
    equal("what the threads saw", server.tell("wake"), "0 interrupted, 4 woken")
    while "are not known" in server.reach():
        time.sleep(0.01)
    os.kill(server.pid(), signal.SIGKILL)
    server.watched.communicate()
    expect_lost(leaks(msleaks, folder), 15)
    gone = run([msleaks.bin / "msleaks", "ctl", folder, "reach"])
    check(gone.returncode not in (0, 1) and gone.stderr.count("\n") == 1, f"reach of a run that has ended: {gone.returncode}, {gone.stderr}")


def expect_at_marks(msleaks, scratch):
    program = f"{scratch}/marked"
    msleaks.compile(PROGRAMS / "marked.c", program, "-pthread", "-I", REPOSITORY / "runtime/include")
    before, at, behind = (line("marked.c", text) for text in ("// lost before the mark", "// held at the mark", "// behind the mark"))
    msleaks.run(f"{scratch}/marks", [program], ["--reach", "marks"])
    later = "allocated after the memory of its process was last read"
    equal("leaks", leaks(msleaks, f"{scratch}/marks"),
          {before: (301, "lost", "proved", None), at: (302, "held", "likely", None), behind: (303, "unknown", "likely", later)})
    msleaks.run(f"{scratch}/no-marks", [program])
    equal("leaks without", {leak[1] for leak in leaks(msleaks, f"{scratch}/no-marks").values()}, {"unknown"})
    done, _ = msleaks.run(f"{scratch}/threads", [program, "threads"], ["--reach", "marks"])
    equal("exit status", done.returncode, 0)
    found = leaks(msleaks, f"{scratch}/threads")
    equal("leaks at the exit", [found[number][1] for number in (before, at)], ["lost", "held"])


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    expect_on_demand(msleaks, scratch)
    expect_at_marks(msleaks, scratch)


main()
