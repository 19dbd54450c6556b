"""Tests msleaks-run under limits of the user's shell, and with interrupted reports. By default, an incomplete recording must not change
the exit status of the program."""
import os
import signal
import subprocess
import time

from run_e2e import Tools, as_somebody, check, expect_account, expect_status, manifest, run_topics, wait_until

tools = Tools()
churn = tools.compile("churn.c")


def survives_the_limit_of_a_file():
    """`ulimit -f` limits the size of the trace. msleaks-run must not die of SIGXFSZ, and `msleaks recover` without the limit must store
    the remaining events."""
    folder = tools.folder("limited")
    # The limit of 2 MiB is enough for the program's shared memory and for a part of the trace.
    command = tools.command(folder, [churn, tools.scratch / "limited-counts", "2", "1000000"], "--no-report", "--ring-kib", "16",
                            "--ring-max-kib", "16")
    done = subprocess.run(["bash", "-c", 'ulimit -f 2048; exec "$@"', "bash", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect_status(done, 0, "File too large", "recording stopped early")
    check(done.stdout == "done\n", f"the program noticed: {done.stdout}")
    expect_status(tools.recover(folder), 0)
    check(manifest(folder)["state"] == "recovered", "the state")
    expect_account(tools.summary(folder))


def fails_when_asked_if_the_program_could_not_be_recorded():
    """The limit of 64 KiB is too small for the shared memory of a process, so msleaks records no event. With --error-exitcode,
    msleaks-run must return the status that this option gives."""
    for options, status in (["--error-exitcode", "42"], 42), (["--error-exitcode", "42", "--no-report"], 42), ([], 0):
        command = tools.command(tools.folder(), ["sh", "-c", "exit 0"], *options)
        done = subprocess.run(["bash", "-c", 'ulimit -f 64; exec "$@"', "bash", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expect_status(done, status)


def gives_the_program_the_signals_as_they_were():
    script = "grep SigIgn /proc/self/status"
    plain = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    watched, _ = tools.run(["sh", "-c", script], "--no-report")
    check(watched.stdout == plain.stdout, f"ignored signals {watched.stdout}, without msleaks {plain.stdout}")


def says_when_there_is_no_thread_for_the_collector():
    with as_somebody(tools) as (somebody, place):
        # This user may have only one thread. msleaks-run needs two: its main thread, and a thread for the collector.
        done = subprocess.run([*somebody, "prlimit", "--nproc=1:1", place / "bin/msleaks-run", "-o", place / "RUN", "touch", place / "witness"],
                              stderr=subprocess.PIPE, text=True)
        expect_status(done, 4, "no thread for the collector")
        check(done.stderr.count("\n") == 1, f"not one line: {done.stderr}")
        check(not (place / "witness").exists() and not (place / "RUN").exists(), "the program ran, or half a recording is left")


def keeps_the_status_when_nothing_can_be_said():
    """msleaks-run cannot write to stderr, and the trace is missing. The exit status must still be the program's."""
    folder = tools.folder("mute")
    with open("/dev/full", "w") as full:
        done = subprocess.run(tools.command(folder, ["sh", "-c", f"rm {folder}/trace.mslt; exit 5"]), stderr=full)
    check(done.returncode == 5, f"exit status {done.returncode}")


def lets_the_report_be_interrupted():
    """Sends SIGINT, as Ctrl-C does, while msleaks-run makes the report. The run's folder must already be complete."""
    folder = tools.folder("interrupted")
    watched = subprocess.Popen(tools.command(folder, [churn, tools.scratch / "interrupted-counts", "2", "2000000"]),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (folder / "manifest.json").exists() and manifest(folder)["state"] == "complete", "the run ends", 120)
    while watched.poll() is None:  # not earlier: before the run is complete, msleaks-run would pass SIGINT on to the program
        watched.send_signal(signal.SIGINT)
        time.sleep(0.02)
    check(watched.returncode == -signal.SIGINT, f"status {watched.returncode}: the report goes on")
    check("peak" not in watched.stderr.read(), "there was nothing to interrupt: the report is through already")
    expect_account(tools.summary(folder), 0)
    check(not os.path.exists(manifest(folder)["session_dir"]), "shared memory is left behind")


def reports_on_a_program_that_was_interrupted():
    """Sends SIGINT to the program and to msleaks-run, as Ctrl-C does. SIGINT must end only the program. Then msleaks-run makes the report."""
    watched = subprocess.Popen(tools.command(tools.folder("killed"), ["sleep", "60"]), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(0.5)
    os.killpg(watched.pid, signal.SIGINT)
    report = watched.communicate()[1]
    check(watched.returncode == -signal.SIGINT and "peak" in report, f"status {watched.returncode}: {report}")


run_topics(survives_the_limit_of_a_file, fails_when_asked_if_the_program_could_not_be_recorded, gives_the_program_the_signals_as_they_were, says_when_there_is_no_thread_for_the_collector,
           keeps_the_status_when_nothing_can_be_said, lets_the_report_be_interrupted, reports_on_a_program_that_was_interrupted)
