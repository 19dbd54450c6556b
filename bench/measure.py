"""Functions for all parts of bench/run.py: run a command, measure its time and memory, and print the table of results."""
import os
import re
import shutil
import statistics
import subprocess
import time


CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")


class Failed(Exception):
    """A measured program failed; the message says which one."""


class Skipped(Exception):
    """A program cannot run on this machine; the message says why."""


def output_of(command, skipped=None, **options):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}; is it built? (--build)") from error
    if skipped is not None and done.returncode == skipped:
        raise Skipped(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {skipped}")
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def last_number(text):
    return float(text.strip().splitlines()[-1])


def instructions_of(command):
    """Counts with callgrind the instructions that a program executes. Other work on the machine does not change the count. The
    command must contain the words CALLGRIND in front of the program."""
    if not shutil.which("valgrind"):
        raise Skipped("valgrind is not installed")
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    counts = re.findall(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not counts:
        raise Failed(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return int(counts[0])


def printed_cost(text, what):
    """Returns {"cpu", "wall"} from the line `WHAT cpu X wall Y`, which bench_pairs, forks and other programs print."""
    words = next(line for line in text.splitlines() if line.startswith(f"{what} cpu ")).split()
    return {"cpu": float(words[2]), "wall": float(words[4])}


def pair_cost(text):
    return printed_cost(text, "pair")


def sides_cost(text):
    """Returns {"hooked", "instrumented"}, the ns of a pair, as sides prints them."""
    words = next(line for line in text.splitlines() if line.startswith("hooked ")).split()
    return {words[0]: float(words[1]), words[2]: float(words[3])}


def picked(values, pick):
    if isinstance(values[0], dict):
        return {key: pick([value[key] for value in values]) for key in values[0]}
    return pick(values)


class Table:
    """A table with the columns what, against, ours, ratio, goal and met. Each row is printed as Markdown as soon as it is known."""

    def __init__(self):
        self.rows = 0

    def add(self, what, base, ours, ratio, goal, unit="ns"):
        met = "" if goal is None else ("yes" if ratio <= goal + 1e-9 else "**no**")
        self.show(what, f"{base:.4g} {unit}".strip(), f"{ours:.4g} {unit}".strip(), f"{ratio:.3g}",
                  "" if goal is None else f"<= {goal:.3g}", met)

    def note(self, what, why):
        self.show(what, "", "", "", "", why)

    def show(self, *row):
        if self.rows == 0:
            print("| what | against | ours | ratio | goal | met |\n|---|---|---|---|---|---|")
        self.rows += 1
        print("| " + " | ".join(row) + " |", flush=True)


def measured(command, passing=()):
    """Runs a command, and returns {"wall_s", "cpu_s" with children, "peak_kib"}. Exit status 1 of `msleaks report`
    counts as success, because a report with findings has this status. So does each status in `passing`.

    The peak is the VmHWM of the command's process, read every 2 ms. ru_maxrss cannot be used: its value begins with the
    resident memory of this script.
    """
    words = [str(word) for word in command]
    begin, peak_kib, ended = time.monotonic(), 0, 0
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not ended:
        time.sleep(0.002)
        peak_kib = max(peak_kib, highest_kib(child.pid))
        ended, status, usage = os.wait4(child.pid, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status)
    if code != 0 and code not in passing and not (code == 1 and "report" in words):
        raise Failed(f"{' '.join(words)}: exit {code}")
    return {"wall_s": time.monotonic() - begin, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_kib": peak_kib}


def highest_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{os.cpu_count()} x {model}, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}"
