#!/usr/bin/env python3
"""Tests the collector `syscalls`: each call of known programs is recorded once, through fork, exec, threads and kill.

    syscalls_test.py BUILD SCRATCH
"""
import os
import subprocess
from collections import Counter

from kernel_run import KernelRuns, check

ARGUMENTS = [11, 22, 33, 44, 55]
INTERRUPTED = -514  # ERESTARTNOHAND of the kernel: a signal has ended the call


def made(printed):
    """Returns (pid, tid, count, begin, end) of each thread."""
    return [tuple(map(int, line.split()[1:])) for line in printed.splitlines() if line.startswith("made")]


def test_every_call(runs, program):
    printed, folder = runs.run("every", "syscalls:getppid,pause,exit,exit_group", [program])
    calls = runs.events(folder, "syscall")
    check({call["name"] for call in calls} == {"getppid", "pause", "exit", "exit_group"}, "other calls are recorded")
    of_thread = Counter((call["pid"], call["tid"]) for call in calls if call["name"] == "getppid" and call["arguments"][:5] == ARGUMENTS)
    expected = Counter()
    for pid, tid, count, _, _ in made(printed):
        expected[pid, tid] += count
    check(of_thread == expected, f"calls by thread: {of_thread}, not {expected}")
    sleeper = int(next(line.split()[1] for line in printed.splitlines() if line.startswith("sleeper")))
    paused = [call for call in calls if call["name"] == "pause"]
    check([(call["pid"], call["status"], call["result"]) for call in paused] == [(sleeper, "returned", INTERRUPTED)], f"pause: {paused}")
    ended = Counter(call["name"] for call in calls if call["status"] == "never-returned")
    check(ended == {"exit": 3, "exit_group": 2}, f"calls that never return: {ended}")
    ends = Counter(call["status"] for call in calls)
    account = runs.account(folder, "syscalls")
    check(account["state"] == "active" and account["mechanism"], f"state: {account}")
    check(ends["returned"] == account["delivered"], f"{ends['returned']} calls have returned: {account}")
    check(ends["never-returned"] == account["unreturned"], f"{ends['never-returned']} calls have not returned: {account}")
    check(account["ring_full"] == account["map_full"] == 0, f"calls are lost: {account}")
    numbers = [call["call"] for call in calls if call["status"] != "begin-unseen"]
    check(len(set(numbers)) == len(numbers), "two calls have one number")
    return printed, calls


def test_times(printed, calls):
    """Each call lies between the two times that its thread has read around its calls, and the calls of a thread do not overlap."""
    for pid, tid, count, begin, end in made(printed):
        own = [call for call in calls if call["tid"] == tid and call["pid"] == pid and begin <= call["time_ns"] <= end and call["name"] == "getppid"]
        check(len(own) == count, f"thread {tid}: {len(own)} of {count} calls are in their time")
        check([call["arguments"][5] for call in own] == list(range(count)), f"thread {tid}: the calls are not in their order")
        last_ns = begin
        for call in own:
            check(last_ns <= call["time_ns"], f"thread {tid}: calls overlap")
            last_ns = call["time_ns"] + call["duration_ns"]
        check(last_ns <= end, f"thread {tid}: a call ends after its thread has read the clock")
        parents = {call["result"] for call in own}
        check(len(parents) == 1 and parents != {0}, f"results: {parents}")


def test_first_call(runs):
    """The loader's first calls are recorded."""
    _, folder = runs.run("first", "syscalls", ["/bin/true"])
    calls = [call for call in runs.events(folder, "syscall") if call["status"] != "begin-unseen"]
    check(calls[0]["name"] == "brk", f"the first call of the image is {calls[0]['name']}")
    check(calls[-1]["name"] == "exit_group" and calls[-1]["status"] == "never-returned", f"the last call: {calls[-1]}")
    check({call["name"] for call in calls} >= {"brk", "openat", "mmap", "close"}, "the loader's calls are missing")


def test_small_ring(runs, program):
    _, folder = runs.run("small", "syscalls:getppid", [program, "loop", "300000"], "--kernel-ring-kib", "4")
    account = runs.account(folder, "syscalls")
    check(account["entered"] >= 300000, f"entered: {account}")
    check(account["ring_full"] > 0, f"the ring is too large for this test: {account}")
    check(len(runs.events(folder, "syscall")) == account["delivered"] + account["unreturned"], f"not every delivered call is in the trace: {account}")


def test_namespace(runs, program):
    """In a pid namespace, processes have the numbers that msleaks-run sees."""
    apart = ["unshare", "--pid", "--fork", "--mount-proc"]
    if os.getuid() != 0 or subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
        print("pid namespaces are not tested: unshare is refused")
        return
    command = [*apart, *runs.command("namespace", "syscalls:getppid", [program])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check(done.returncode == 0, f"namespace: exit status {done.returncode}: {done.stderr}")
    calls = runs.events(runs.scratch / "namespace", "syscall")
    of_thread = Counter((call["pid"], call["tid"]) for call in calls if call["arguments"][:5] == ARGUMENTS)
    expected = Counter()
    for pid, tid, count, _, _ in made(done.stdout):
        expected[pid, tid] += count
    check(of_thread == expected and max(expected)[0] < 100, f"calls by thread: {of_thread}, not {expected}")


def main():
    runs = KernelRuns()
    runs.need("syscalls")
    program = runs.compile("calls.c")
    printed, calls = test_every_call(runs, program)
    test_times(printed, calls)
    test_first_call(runs)
    test_small_ring(runs, program)
    test_namespace(runs, program)


if __name__ == "__main__":
    main()
