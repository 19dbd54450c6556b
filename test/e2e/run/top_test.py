"""Tests `msleaks top` and `msleaks report` on a running session, as text and on a terminal."""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from run_e2e import Tools, as_somebody, check, expect_status, run_topics, wait_until

tools = Tools()
steps = tools.compile("steps.c")


class Session:
    """Runs programs/steps.c under msleaks-run, and sends it one command at a time."""

    def __init__(self, name):
        self.folder = tools.folder(name)
        self.process = subprocess.Popen(tools.command(self.folder, [steps], "--no-report"), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.do("a 1")

    def do(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            check(self.process.stdout.readline() == "ok\n", f"the program does not go on after {line}")

    def top(self, *words):
        done = tools.verb("top", self.folder, "--once", *words)
        check(done.returncode == 0 and not done.stderr, f"top: {done.returncode} {done.stderr}")
        return done.stdout

    def own(self):
        """Returns the bytes and blocks that `msleaks top` shows for the program's own sites, and the number of events."""
        frame = json.loads(self.top("--json"))
        rows = [row for row in frame["rows"] if row["site"] and (row["site"]["library"] or "").endswith("/steps")]
        return sum(row["bytes"] for row in rows), sum(row["count"] for row in rows), frame["events"]

    def holds(self, size, count):
        wait_until(lambda: self.own()[:2] == (size, count), f"{size} bytes in {count} blocks, not {self.own()}")
        return self.own()

    def end(self):
        self.process.stdin.write("q 0\n")
        self.process.stdin.close()
        check(self.process.wait(60) == 7, f"exit status {self.process.returncode}")


class Terminal:
    """Runs `msleaks top` on a new terminal."""

    def __init__(self, folder, columns, *options):
        self.shown = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            os.execv(tools.bin / "msleaks", ["msleaks", "top", str(folder), "--interval", "0.1", *options])

    def read(self, seconds):
        """Reads output for at most this many seconds. Returns False if `msleaks top` has closed its side of the terminal."""
        if select.select([self.terminal], [], [], seconds)[0]:
            try:
                piece = os.read(self.terminal, 65536)
            except OSError:
                return False
            self.shown += piece
            return bool(piece)
        return True

    def expect(self, text, seconds=30):
        until = time.monotonic() + seconds
        while text not in self.shown:
            check(self.read(0.1) and time.monotonic() < until, f"no {text} in {self.shown[-2000:]}")
        self.shown = b""

    def press(self, keys):
        os.write(self.terminal, keys)

    def resize(self, lines, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    def end(self, status=0):
        until = time.monotonic() + 30
        while self.read(0.1):
            check(time.monotonic() < until, "top does not end")
        found = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.terminal)
        check(found == status, f"exit status {found}, not {status}: {self.shown[-2000:]}")


def grows_with_the_program():
    session = Session("grows")
    first = session.holds(1, 1)
    session.do("a 5000", "a 600", "f 600")
    second = session.holds(5001, 2)
    check(second[2] >= first[2] + 3, f"events: {first} {second}")
    text = session.top()
    check("steps.c:" in text and "running: " in text and "1 process " in text, text)
    check(all(len(line) <= 20 for line in tools.verb("top", session.folder, "--once", env={**os.environ, "COLUMNS": "20"}).stdout.splitlines()),
          "wider than 20 columns")
    without = tools.verb("top", "--once")
    check(without.returncode == 0, f"the newest session: {without.stderr}")
    session.end()
    wait_until(lambda: "ENDED" in session.top(), "the end")
    check(session.own()[:2] == (5001, 2), "the last frame is not what was alive at the end")


def is_drawn_on_a_terminal():
    session = Session("terminal")
    session.do("a 70000")
    session.holds(70001, 2)
    for columns in 20, 80:
        terminal = Terminal(session.folder, columns)
        terminal.expect(b"steps.c:")
        for key in b"s", b"p", b"h", b"g", b" ", b" ", b"\x1b[B", b"\x1b[6~", b"?":
            terminal.press(key)
        for lines, width in (3, 20), (1, 1), (50, 200), (24, columns):
            terminal.resize(lines, width)
            terminal.read(0.3)
        terminal.press(b"b")
        terminal.expect(b"bytes*")
        terminal.press(b"q")
        terminal.end()
    terminal = Terminal(session.folder, 80)
    terminal.expect(b"steps.c:")
    session.end()
    terminal.expect(b"ENDED")
    time.sleep(0.3)
    check(os.waitpid(terminal.pid, os.WNOHANG)[0] == 0, "the last frame does not stay")
    terminal.press(b"q")
    terminal.end()


def a_trace_that_goes_away_is_one_line():
    for name, damage in (("gone", os.remove), ("cut", lambda trace: os.truncate(trace, 40))):
        session = Session(name)
        session.holds(1, 1)
        terminal = Terminal(session.folder, 80)
        terminal.expect(b"steps.c:")
        os.kill(session.process.pid, signal.SIGSTOP)  # a running collector would append to the truncated file
        damage(session.folder / "trace.mslt")
        terminal.expect(b"msleaks: ")
        terminal.end(3)
        os.kill(session.process.pid, signal.SIGCONT)
        session.process.communicate("q 0\n", timeout=60)


def refuses_what_it_cannot_show():
    expect_status(tools.verb("top", tools.scratch / "nowhere", "--once"), 3)
    expect_status(tools.verb("top", tools.scratch / "nowhere", "--json"), 2, "--once")
    expect_status(tools.verb("top", "--once", "--interval", "0"), 2)


def others_sessions_are_not_found():
    session = Session("mine")
    with as_somebody(tools) as (somebody, place):
        subprocess.run(["cp", tools.bin / "msleaks", place / "bin"], check=True)
        done = subprocess.run([*somebody, place / "bin/msleaks", "top", "--once"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expect_status(done, 3, "no session of yours")
    session.end()


def a_killed_collector_is_said():
    session = Session("killed")
    session.holds(1, 1)
    session.process.kill()
    session.process.wait()
    wait_until(lambda: json.loads(session.top("--json"))["state"] == "orphaned", "the state")
    check("NOT COLLECTED" in session.top(), "the text does not say so")
    session.process.stdin.close()
    check(tools.recover(session.folder).returncode == 0, "the session cannot be recovered")


def is_reported_while_it_runs():
    session = Session("report")
    session.do("a 4321", "a 99", "f 99")
    wait_until(lambda: tools.verb("ctl", session.folder, "snapshot").returncode == 0, "a snapshot")
    done = tools.verb("report", session.folder, "--json")
    check(done.returncode == 0, f"report: {done.returncode} {done.stderr}")
    report = json.loads(done.stdout)
    rows = [row for row in report["alive_at_end"]["by_site"] if (row["site"]["library"] or "").endswith("/steps")]
    check(sum(row["bytes"] for row in rows) == 4322 and report["leaks"]["count"] == 0, f"{report['alive_at_end']}")
    check(report["session"]["state"] == "running" and not report["session"]["complete"], f"{report['session']}")
    check(any("still runs" in note for note in report["notes"]), f"{report['notes']}")
    events = report["events"]
    check(events["produced"] == events["stored"] + events["dropped"], f"does not add up: {events}")
    session.end()


run_topics(grows_with_the_program, is_drawn_on_a_terminal, a_trace_that_goes_away_is_one_line, refuses_what_it_cannot_show,
           others_sessions_are_not_found, a_killed_collector_is_said, is_reported_while_it_runs)
