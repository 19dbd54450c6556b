#!/usr/bin/env python3
"""Tests that a report explains slow calls of a driver. The first cause is the one that the program has made. It is as long as the
program has measured.

    explain_test.py BUILD SCRATCH
"""
import os
import subprocess

from kernel_run import HERE, KernelRuns, check

TIMES = 10
SOURCE = HERE / "programs/causes.c"
CALLS = {"alloc": "cudaMalloc(&block", "launch": "cudaLaunchKernel((void *)main"}


def slowest(runs, folder, cause, what="alloc"):
    """Returns the slow calls of the driver, in the order of time."""
    lines = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if CALLS[what] in line]
    slow = [each for each in runs.report(folder)["kernel"]["slowest"]
            if each["what"] == what and each["site"]["line"] in lines and each["site"]["file"].endswith(SOURCE.name)]
    check(len(slow) == TIMES, f"{cause}: {len(slow)} of {TIMES} calls are explained")
    return sorted(slow, key=lambda each: each["time_ns"])


def measured(printed):
    return [tuple(map(int, line.split()[1:])) for line in printed.splitlines()]


def queued(operation):
    return sum(cause["duration_ns"] for cause in operation["causes"] if cause["kind"] == "queue")


def test_cause(runs, program, cause, kind, name, what="alloc", options=()):
    """Every call has this first cause, within a tenth of what the program has measured. The thread may also have waited for a
    processor between the kernel's clock and its own."""
    printed, folder = runs.run(f"{cause}-{what}", "syscalls,sched,faults", [program, cause, str(TIMES), *options])
    truth = measured(printed)
    slow = slowest(runs, folder, cause, what)
    for each, (spent_ns, _, _) in zip(slow, truth):
        first = each["causes"][0]
        check(first["kind"] == kind and first["name"] == name, f"{cause}: the first cause is {first}, not {kind} {name}: {each}")
        check(abs(first["duration_ns"] - spent_ns) <= spent_ns / 10 + queued(each), f"{cause}: {first['duration_ns']} ns, the program measured {spent_ns}: {each}")
        check(each["explained_ns"] <= each["duration_ns"], f"{cause}: more is explained than there is: {each}")
    return slow


def test_neighbour(runs, program):
    """The time in the run queue is what the kernel itself has counted for the thread, and the neighbour is named."""
    if subprocess.run([program, "neighbour", "1"], stdout=subprocess.DEVNULL).returncode == 77:
        print("the neighbour is not tested: real-time priorities are refused")
        return
    printed, folder = runs.run("neighbour", "sched", [program, "neighbour", str(TIMES)])
    slow = slowest(runs, folder, "neighbour")
    for each, (spent_ns, _, _) in zip(slow, measured(printed)):
        first = each["causes"][0]
        check((first["kind"], first["name"]) == ("queue", "neighbour"), f"neighbour: {each}")
        check(abs(queued(each) - spent_ns) <= spent_ns / 10, f"neighbour: {queued(each)} ns, the kernel counted {spent_ns}: {each}")


def test_pages(runs, program):
    """Each page that the driver touches is one fault at its address, and the faults are the cause."""
    printed, folder = runs.run("pages", "faults", [program, "pages", str(TIMES)])
    truth = measured(printed)
    slow = slowest(runs, folder, "pages")
    events = runs.events(folder, "fault")
    page = os.sysconf("SC_PAGE_SIZE")
    for each, (spent_ns, count, address) in zip(slow, truth):
        first = each["causes"][0]
        begin_ns = each["time_ns"] - each["duration_ns"]
        inside = [event for event in events if begin_ns <= event["time_ns"] <= each["time_ns"]]
        touched = [event["address"] for event in inside if address <= event["address"] < address + count * page]
        check(touched == [address + i * page for i in range(count)], f"pages: {len(touched)} faults in the mapping, not {count}")
        check((first["kind"], first["count"]) == ("fault", len(inside)), f"pages: {first}, and {len(inside)} faults")
        check(first["duration_ns"] == sum(event["duration_ns"] for event in inside) > 0, f"pages: {first}")
        check(each["explained_ns"] <= each["duration_ns"], f"pages: {each}")


def test_blocks(runs):
    """A fault in a block of the program names the block and the site that allocated it."""
    program = runs.compile("blocks.c")
    printed, folder = runs.run("faulted", "faults", [program])
    faults = runs.events(folder, "fault")
    allocs = {event["address"]: event["site"] for event in runs.events(folder, "alloc")}
    page = os.sysconf("SC_PAGE_SIZE")
    for line in printed.splitlines():
        address, size = map(int, line.split())
        inside = [each for each in faults if address <= each["address"] < address + size]
        check(len(inside) >= size // page - 1, f"{len(inside)} faults in a block of {size} bytes")
        check({each["block"] for each in inside} == {address}, f"blocks: {inside[:3]}, not {address}")
        check({each["site"] for each in inside} == {allocs[address]} != {None}, f"sites: {inside[:3]}, not {allocs[address]}")
    freed = [each for each in faults if each["block"] is None]
    check(freed, "each fault lies in a block, even those of the loader")


def main():
    runs = KernelRuns()
    runs.need("syscalls", "sched", "faults")
    library = runs.compile("slow_driver.c", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.12", output="libcudart.so.12")
    program = runs.compile("causes.c", library, f"-Wl,-rpath,{runs.scratch}")
    lock = test_cause(runs, program, "lock", "syscall", "futex")
    check(all("off-cpu" in {cause["kind"] for cause in each["causes"]} for each in lock), "the sleep is no cause of the call")
    test_cause(runs, program, "pipe", "syscall", "read")
    test_cause(runs, program, "pipe", "syscall", "read", what="launch", options=("launch",))
    test_neighbour(runs, program)
    test_pages(runs, program)
    test_blocks(runs)


if __name__ == "__main__":
    main()
