"""Kills the program, the collector (msleaks-run), or both with SIGKILL at random moments. After `msleaks recover` the trace must
contain each published event. The number of produced events must be the sum of stored and dropped events.

    kill_test.py BUILD SCRATCH program|collector|both COUNT [SEED]
"""
import os
import random
import signal
import struct
import subprocess
import sys
import time

from run_e2e import Tools, check, expect_account, expect_quiet, manifest, session_gone, wait_until

THREADS = 2
PAIRS = 2_000_000  # this many pairs of malloc and free take about 0.3 s, longer than the longest wait before a kill (0.2 s)
# Additional seconds before a kill, since a program starts slowly under an emulator.
STARTS_AFTER = float(os.environ.get("MSLEAKS_STARTS_AFTER", "0"))
# If the collector was killed, a thread of the program waits 100 ms once, and then drops events. With `--access calls` a thread
# records no events but those of its own calls.
OPTIONS = ["--no-report", "--access", "calls", "--block-timeout-ms", "100", "--ring-kib", "64", "--ring-max-kib", "1024"]


class Counts:
    """Reads the file in which programs/churn.c counts its own calls."""

    def __init__(self, path):
        self.path = path
        path.unlink(missing_ok=True)
        self.bytes = b""

    def read(self):
        self.bytes = self.path.read_bytes() if self.path.exists() else b""
        return self

    def _number(self, offset):
        return struct.unpack_from("<Q", self.bytes, offset)[0] if len(self.bytes) >= offset + 8 else 0

    @property
    def pid(self):
        return self._number(0)

    def returned(self, thread):
        return self._number(64 * (1 + thread))


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def strike(victim, collector, counts):
    """Kills the victims in random order. Returns two values: whether each thread was still allocating after the kills, and whether
    the collector was killed first. If it was, the program ran without a collector."""
    targets = []
    if victim in ("program", "both"):
        wait_until(lambda: counts.read().pid or collector.poll() is not None, "the program starts")
        if counts.pid:
            targets.append(counts.pid)
    if victim in ("collector", "both"):
        targets.append(collector.pid)
    random.shuffle(targets)
    for pid in targets:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the process had already ended
    counts.read()
    return all(0 < counts.returned(thread) < 2 * PAIRS for thread in range(THREADS)), targets[0] == collector.pid


def check_streams(tools, folder, counts, lost_at_most):
    summary = tools.summary(folder)
    expect_account(summary, lost_at_most)
    expect_quiet(folder)
    by_name = {stream["thread"]: stream for stream in summary["streams"]}
    for thread in range(THREADS):
        returned = counts.returned(thread)
        if returned == 0:
            continue
        stream = by_name.get(f"churn{thread}")
        check(stream, f"thread {thread} counted {returned} events, the trace does not know it")
        check(stream["in_sequence"], f"events are missing within {stream}")
        check(returned <= stream["produced"] <= returned + 1, f"the thread counted {returned}: {stream}")


def trial(tools, program, victim, number):
    folder = tools.folder()
    counts = Counts(tools.scratch / "counts")
    collector = subprocess.Popen(tools.command(folder, [program, counts.path, str(THREADS), str(PAIRS)], *OPTIONS),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(STARTS_AFTER + random.uniform(0, 0.2))
    in_the_middle, orphaned = strike(victim, collector, counts)
    complaint = collector.communicate()[1]
    if victim == "collector":
        # The kill must not affect the program, which runs to its end.
        if counts.read().pid:
            wait_until(lambda: not alive(counts.pid), "the program ends by itself")
            check(all(counts.read().returned(thread) == 2 * PAIRS for thread in range(THREADS)), "the program was harmed")
    else:
        wait_until(lambda: not counts.pid or not alive(counts.pid), "the program is gone")
    counts.read()
    if victim == "program":
        check(collector.returncode == -signal.SIGKILL or collector.returncode == 0, f"msleaks-run ended with {collector.returncode}: {complaint}")
        check(manifest(folder)["state"] == "complete", "the folder is not complete")
    elif not (folder / "manifest.json").exists():
        check(not counts.pid, "a program ran without a manifest")
        check(not any(str(collector.pid) in name.split("-") for name in os.listdir("/dev/shm")), "shared memory without a manifest")
        return False
    recovered = tools.recover(folder)
    check(recovered.returncode == 0, f"recover: {recovered.stderr}")
    # Without a collector the threads may drop any number of events. With a collector a thread loses at most the event that it was
    # recording.
    check_streams(tools, folder, counts, None if orphaned else 1)
    session_gone(folder)
    before = (folder / "trace.mslt").read_bytes()
    again = tools.recover(folder)
    check(again.returncode == 0 and (folder / "trace.mslt").read_bytes() == before, "recovering twice changed the trace")
    return in_the_middle


def main():
    tools = Tools()
    victim, count = sys.argv[3], int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 32)
    random.seed(seed)
    program = tools.compile("churn.c")
    in_the_middle = 0
    for number in range(count):
        try:
            in_the_middle += trial(tools, program, victim, number)
        except SystemExit as failure:
            sys.exit(f"{failure.code}\n(trial {number} of {count}, seed {seed})")
    # On a busy machine the program may start after the kill. So the test checks only for 20 or more kills that at least half of the
    # kills hit threads that were recording.
    check(count < 20 or in_the_middle >= count / 2, f"only {in_the_middle} of {count} kills met threads that were recording (seed {seed})")
    print(f"{count} kills of {victim}, {in_the_middle} of them while both threads recorded: nothing published was lost")


main()
