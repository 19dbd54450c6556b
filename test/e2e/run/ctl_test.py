"""Tests changes of a running session: `msleaks ctl`, --start-paused, --toggle-signal, and a new collector after the first one was
killed."""
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from run_e2e import Tools, as_somebody, check, expect_account, expect_status, manifest, run_topics, session_gone, wait_until

tools = Tools()
steps = tools.compile("steps.c")


class Session:
    """Runs programs/steps.c under msleaks-run, and sends it one command at a time."""

    def __init__(self, name, *options):
        self.folder = tools.folder(name)
        self.process = subprocess.Popen(tools.command(self.folder, [steps], "--no-report", *options), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.do("a 1")
        wait_until(lambda: self.ctl("status").returncode == 0, "the collector answers")

    def do(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            check(self.process.stdout.readline() == "ok\n", f"the program does not go on after {line}")

    def ctl(self, *words):
        return tools.verb("ctl", self.folder, *words)

    def expect(self, *words):
        done = self.ctl(*words)
        check(done.returncode == 0, f"ctl {words}: {done.returncode}, {done.stderr}")
        return done

    def status(self):
        return json.loads(self.expect("status", "--json").stdout)

    def recorded(self, count):
        """Waits until the trace has at least `count` events."""
        wait_until(lambda: self.expect("snapshot") and self.status()["events"]["stored"] >= count, f"{count} events")

    def end(self):
        self.process.stdin.write("q 0\n")
        self.process.stdin.close()
        check(self.process.wait(60) == 7, f"exit status {self.process.returncode}")
        session_gone(self.folder)
        return self.report()

    def report(self):
        done = tools.verb("report", self.folder, "--json")
        check(done.returncode in (0, 1), f"report: {done.returncode} {done.stderr}")
        report = json.loads(done.stdout)
        events = report["events"]
        check(events["produced"] == events["stored"] + events["dropped"], f"does not add up: {events}")
        return report

    def collector(self):
        return self.process.pid


def held(*parts):
    """Returns the bytes and the number of blocks of the program's own sites in these lists of the report."""
    rows = [row for part in parts for row in part["by_site"] if (row["site"]["library"] or "").endswith("/steps")]
    return sum(row["bytes"] for row in rows), sum(row["count"] for row in rows)


def tells_blocks_of_a_pause_apart():
    session = Session("pause", "--start-paused")
    check(session.status()["state"] == "paused", "it does not start paused")
    session.do("a 101")
    session.expect("start")
    session.do("f 101", "a 202", "a 303", "f 303", "a 404")
    session.recorded(5)
    session.expect("stop")
    check(session.status()["state"] == "paused", "it is not stopped")
    before = session.status()["events"]["produced"]
    session.do("f 202", "a 505", "b 1000")
    check(session.status()["events"]["produced"] == before, "a stopped session records")
    session.expect("start")
    session.do("a 7000")
    report = session.end()
    check(held(report["leaks"]) == (7000, 1), f"{report['leaks']}")
    check(held(report["unsure"]) == (202 + 404, 2), f"{report['unsure']}")
    check(report["blocks"]["frees_before_start"] >= 1 and report["blocks"]["unmatched_frees"] == 0, f"{report['blocks']}")
    check(any("unsure" in note for note in report["notes"]), f"{report['notes']}")


def a_session_that_ends_in_a_pause_has_no_leaks():
    session = Session("paused-end")
    session.do("a 101")
    session.expect("stop")
    report = session.end()
    check(report["leaks"]["count"] == 0 and held(report["unsure"]) == (102, 2), f"{report['leaks']} {report['unsure']}")


def recorded_sizes(session):
    """Returns the sizes of the recorded blocks, as far as their sizes are those of a test."""
    done = tools.verb("dump", session.folder, "--json", "--kind", "alloc")
    sizes = [json.loads(line)["size"] for line in done.stdout.splitlines()]
    return [size for size in sizes if 10000 < size < 20000]


def records_chosen_steps_only():
    session = Session("chosen", "--steps", "2,4")
    session.do("a 10000", "b 1000", "s 1", "a 11001", "s 2", "a 12001", "a 12002", "s 3", "a 13001", "f 12001", "f 11001", "s 4", "a 14001", "s 5", "a 15001")
    report = session.end()
    check(recorded_sizes(session) == [12001, 12002, 14001], f"{recorded_sizes(session)}")
    check(held(report["leaks"]) == (12002 + 14001, 2) and report["unsure"]["count"] == 0, f"{report['leaks']} {report['unsure']}")
    check(report["blocks"]["frees_before_start"] >= 1 and report["blocks"]["unmatched_frees"] == 0, f"{report['blocks']}")
    check(report["events"]["stored"] < 500, f"{report['events']}: frees before the first chosen step are recorded")
    check(any("--steps 2,4: only blocks" in note for note in report["notes"]), f"{report['notes']}")


def records_nothing_of_chosen_steps_in_a_pause():
    session = Session("chosen-pause", "--steps", "2")
    session.do("s 2", "a 12001", "s 3")
    session.expect("stop")
    before = session.status()["events"]["produced"]
    session.do("f 12001", "s 2", "a 12002", "s 4", "b 1000")
    check(session.status()["events"]["produced"] == before, "a stopped session records")
    session.expect("start")
    session.do("a 14001", "s 2", "a 12003")
    session.end()
    check(recorded_sizes(session) == [12001, 12003], f"{recorded_sizes(session)}")


def toggles_by_a_signal():
    session = Session("toggle", "--toggle-signal", "USR1")
    for state in "paused", "recording":
        os.kill(session.collector(), signal.SIGUSR1)
        wait_until(lambda: session.status()["state"] == state, state)
    session.end()
    done, _ = tools.run(["true"], "--toggle-signal", "KILL")
    expect_status(done, 2, "KILL")


def a_snapshot_is_up_to_date():
    session = Session("snapshot")
    session.do("a 4321")
    session.expect("snapshot")
    report = session.report()
    check(held(report["alive_at_end"]) == (4322, 2), "the snapshot lacks the last block")
    check(not report["session"]["complete"], "a running session is complete")
    session.end()


def changes_options():
    session = Session("set")
    for setting in "on-full=drop", "ring-kib=16", "ring-max-kib=64", "block-timeout-ms=100", "events=alloc,free":
        session.expect("set", setting)
    for setting, status in (("on-full=sometimes", 2), ("ring-kib=1", 2), ("ring-kib=100000", 2), ("colour=red", 2), ("events=frees", 2),
                            ("events", 2), ("on-full=overwrite", 4)):
        expect_status(session.ctl("set", setting), status, setting.split("=")[0])
    expect_status(session.ctl("set"), 2)
    expect_status(session.ctl("start", "now"), 2)
    expect_status(session.ctl("dance"), 2)
    session.expect("set", "events=free")
    before = session.status()["events"]["produced"]
    session.do("a 77", "a 78")
    check(session.status()["events"]["produced"] == before, "allocations are recorded still")
    session.end()


def says_when_there_is_no_session():
    expect_status(tools.verb("ctl", tools.scratch / "nowhere", "start"), 3)
    session = Session("ended")
    session.end()
    check(session.status()["state"] == "ended" and session.status()["processes"] == 1, f"{session.status()}")
    expect_status(session.ctl("start"), 3, "ended")
    expect_status(session.ctl("adopt"), 3, "ended")


def packet(session, text):
    """Sends one request to the session's socket, as `msleaks ctl` does, and returns the answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.connect(os.path.join(manifest(session.folder)["session_dir"], "ctl"))
        client.send(text.encode())
        return client.recv(65536).decode()


def bears_a_thousand_changes_and_many_who_ask():
    session = Session("storm")
    busy = threading.Event()
    worker = threading.Thread(target=lambda: [session.do("b 2000") for _ in range(200)] and busy.set())
    worker.start()
    begin = time.monotonic()
    for i in range(1000):
        check(packet(session, "stop" if i % 2 == 0 else "start") == "0 ", "refused")
    print(f"  1000 changes in {time.monotonic() - begin:.2f} s", flush=True)
    askers = [threading.Thread(target=lambda: [packet(session, "status") for _ in range(100)]) for _ in range(4)]
    silent = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(40)]
    for client in silent:
        client.setblocking(False)
        try:
            client.connect(os.path.join(manifest(session.folder)["session_dir"], "ctl"))
        except BlockingIOError:
            pass
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    worker.join()
    check(packet(session, "rm -rf")[0] == "2", "an unknown command is taken")
    for client in silent:
        client.close()
    session.do("a 999")
    report = session.end()
    check(held(report["leaks"]) == (999, 1), "it does not record any more")
    check(report["blocks"]["unmatched_frees"] == 0, f"{report['blocks']}")


def obeys_its_user_alone():
    with as_somebody(tools) as (somebody, place):
        shutil.copy(tools.bin / "msleaks", place / "bin")
        session = Session("mine")
        done = subprocess.run([*somebody, place / "bin/msleaks", "ctl", session.folder, "stop"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        check(done.returncode in (3, 4), f"{done.returncode} {done.stderr}")
        check(session.status()["state"] == "recording", "another user stopped it")
        session.end()


def kill_collector(session):
    os.kill(session.collector(), signal.SIGKILL)
    session.process.wait()


def adopt(session):
    adopter = subprocess.Popen([tools.bin / "msleaks", "ctl", session.folder, "adopt"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: adopter.poll() is not None or session.ctl("status", "--json").stdout.find("recording") > 0, "the new collector")
    return adopter


def another_collector_takes_over():
    session = Session("adopt", "--ring-kib", "16", "--ring-max-kib", "16")
    session.do("a 101")
    expect_status(session.ctl("adopt"), 4, "still recorded")
    kill_collector(session)
    check(session.status()["state"] == "orphaned", f"{session.status()}")
    begin = time.monotonic()
    session.do("b 20000")
    check(time.monotonic() - begin < 10, "the program waits for a dead collector")
    for kill in True, False:
        adopter = adopt(session)
        check(adopter.poll() is None, "the new collector does not stay")
        expect_status(session.ctl("adopt"), 4)
        session.do("b 2000", "a 202" if kill else "a 303")
        session.expect("snapshot")
        if kill:
            adopter.kill()
            adopter.wait()
    session.process.stdin.write("q 0\n")
    session.process.stdin.close()
    out, err = adopter.communicate(timeout=60)
    check(adopter.returncode == 0, f"adopt: {adopter.returncode} {out} {err}")
    session_gone(session.folder)
    summary = tools.summary(session.folder)
    expect_account(summary)
    report = session.report()
    check(held(report["leaks"], report["alive_at_end"]) == (607, 4), f"{report['leaks']}")
    check(len(report["processes"]) == 1, f"{report['processes']}")
    check(manifest(session.folder)["state"] == "complete", "the folder is not complete")


def a_collector_may_die_in_the_middle_of_an_adoption():
    session = Session("adopt-kills", "--ring-kib", "2048") # the ring has room for all events, even if no new collector reads any
    kill_collector(session)
    for delay in range(12):
        adopter = subprocess.Popen([tools.bin / "msleaks", "ctl", session.folder, "adopt"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        session.do("b 500")
        time.sleep(delay * 0.004)
        adopter.kill()
        adopter.wait()
    session.do("a 303")
    adopter = adopt(session)
    session.process.stdin.write("q 0\n")
    session.process.stdin.close()
    check(adopter.wait(60) == 0, "the last one fails")
    expect_account(tools.summary(session.folder))
    report = session.report()
    check(held(report["leaks"], report["alive_at_end"]) == (304, 2), f"{report['leaks']}")


run_topics(tells_blocks_of_a_pause_apart, a_session_that_ends_in_a_pause_has_no_leaks, records_chosen_steps_only,
           records_nothing_of_chosen_steps_in_a_pause, toggles_by_a_signal, a_snapshot_is_up_to_date,
           changes_options, says_when_there_is_no_session, bears_a_thousand_changes_and_many_who_ask, obeys_its_user_alone,
           another_collector_takes_over, a_collector_may_die_in_the_middle_of_an_adoption)
