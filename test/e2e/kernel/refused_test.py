#!/usr/bin/env python3
"""Tests that a refusal, or a collector that is killed, harms no program, has its reason, and leaves nothing attached.

    refused_test.py BUILD SCRATCH
"""
import json
import os
import shutil
import signal
import subprocess
import time

from kernel_run import KernelRuns, check, skip

NOBODY = 65534


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def test_names(runs):
    for value, message in [("nothing", "none of"), ("syscalls:no_such_call", "nor a system call"), ("syscalls,syscalls", "twice"), ("sched:read", "no calls"), ("", "none of")]:
        done = subprocess.run(runs.command("names", value, ["/bin/true"]), capture_output=True, text=True)
        check(done.returncode == 2 and message in done.stderr, f"--kernel '{value}': {done.returncode}, {done.stderr}")
    done = subprocess.run([runs.bin / "msleaks", "collectors", "nothing"], capture_output=True, text=True)
    check(done.returncode == 2, f"collectors nothing: {done.returncode}")


def test_unprivileged(runs):
    """Without privilege, the program runs as before, and the reason is told once."""
    folder = runs.scratch / "nobody"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    status, collectors = runs.collectors("syscalls", preexec_fn=as_nobody)
    check(status == 1, "collectors: exit status 0 without privilege")
    syscalls = collectors["syscalls"]
    check((syscalls["state"], syscalls["reason"]) in (("unavailable", "need-caps"), ("not-built", "not-built")), f"{syscalls}")
    done = subprocess.run(runs.command("nobody/run", "syscalls", ["/bin/sh", "-c", "echo out; exit 5"]), capture_output=True, text=True, preexec_fn=as_nobody)
    check(done.returncode == 5 and done.stdout == "out\n", f"the program is affected: {done.returncode}, {done.stdout}, {done.stderr}")
    warned = [line for line in done.stderr.splitlines() if "--kernel syscalls" in line]
    check(len(warned) == 1 and syscalls["reason"] in warned[0], f"warnings: {done.stderr}")
    account = runs.account(folder / "run", "syscalls")
    check(account["state"] == syscalls["state"] and account["entered"] == 0, f"{account}")
    check(bool(account["refusals"]) == (syscalls["state"] == "unavailable"), f"refusals: {account}")


def attached():
    """Returns the names of the attached programs of msleaks, with how many there are."""
    done = subprocess.run(["bpftool", "prog", "list", "-j"], capture_output=True, text=True)
    check(done.returncode == 0, f"bpftool: {done.stderr}")
    return sorted(each["name"] for each in json.loads(done.stdout) if each.get("name") in ("enter_btf", "exit_btf", "fork_btf", "switch_btf", "enter_raw"))


def wait_until_detached(before):
    """The kernel frees a program some time after its last user has gone."""
    until = time.monotonic() + 30
    while len(attached()) > len(before) and time.monotonic() < until:
        time.sleep(0.02)
    check(len(attached()) <= len(before), f"still attached: {attached()}")


def test_killed(runs):
    """The program continues after a SIGKILL of msleaks-run, and nothing stays attached."""
    before = attached()
    done = runs.scratch / "done"
    command = runs.command("killed", "syscalls", ["/bin/sh", "-c", f"echo; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); kill -0 $$; done; echo > {done}"])
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    run.stdout.readline()
    check(len(attached()) > len(before), "nothing is attached while the program runs")
    run.send_signal(signal.SIGKILL)
    run.wait()
    until = time.monotonic() + 30
    while not done.exists() and time.monotonic() < until:
        time.sleep(0.02)
    check(done.exists(), "the program did not continue")
    wait_until_detached(before)


def test_nothing_stays(runs):
    before = attached()
    runs.run("ended", "syscalls", ["/bin/true"])
    wait_until_detached(before)


def main():
    runs = KernelRuns()
    test_names(runs)
    if os.getuid() != 0:
        skip("not root: it cannot run a program as another user")
    test_unprivileged(runs)
    runs.need("syscalls")
    if shutil.which("bpftool"):
        test_nothing_stays(runs)
        test_killed(runs)


if __name__ == "__main__":
    main()
