"""Tests the early report: msleaks-run begins the report while the program still runs. The
early report must equal a report of the whole run."""
import os
import subprocess

from run_e2e import Tools, Unavailable, check, expect_status, run_topics

tools = Tools()
churn, leak, parent = (tools.compile(name) for name in ("churn.c", "leak.c", "parent.c"))
BEGUN = "the report was begun while the program ran"


def run(name, command, *options, prefix=()):
    """Runs msleaks-run. Returns its exit status, the run's folder, its report, and whether the report was begun early."""
    folder = tools.folder(name)
    done = subprocess.run([*prefix, *map(str, tools.command(folder, command, "--log-level", "debug", *options))],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.splitlines()
    said = [line for line in lines if not line.startswith("msleaks-run:")]
    return done.returncode, folder, said, any(BEGUN in line for line in lines)


def needs_two_processors():
    if len(os.sched_getaffinity(0)) < 2:
        raise Unavailable("a report is begun early where there are two processors")


def says_the_same_as_the_whole_run():
    needs_two_processors()
    for name, command in (("threads", [churn, tools.scratch / "counts", "2", "200000"]), ("children", [parent, leak])):
        status, folder, said, begun = run(name, command)
        check(status == 0 and begun, f"{name}: {status}, begun {begun}: {said}")
        report = tools.verb("report", folder, "--all")
        expect_status(report, 1 if "leaks   none" not in report.stdout else 0)
        whole = [line for line in report.stdout.splitlines() if line]
        leaks = next(line for line in whole if line.startswith("leaks"))
        check(leaks in said, f"{name}: no '{leaks}' in {said}")
        check([line for line in said if line.startswith("peak")] == [line for line in whole if line.startswith("peak")],
              f"{name}: another peak: {said} {whole}")


def waits_where_it_would_take_the_programs_time():
    command = [churn, tools.scratch / "counts", "1", "20000"]
    status, _, _, begun = run("asked", command, "--analyze-at-end")
    check(status == 0 and not begun, "--analyze-at-end was not heeded")
    one = min(os.sched_getaffinity(0))
    status, _, said, begun = run("alone", command, prefix=("taskset", "-c", str(one)))
    check(status == 0 and not begun and said, f"on one processor: {status} {said}")


def is_not_of_a_trace_that_somebody_cut():
    """Truncates the trace while the program runs. msleaks-run must return the program's exit status."""
    folder = tools.folder("cut")
    script = f"sleep 0.3; : > {folder}/trace.mslt; sleep 0.3"
    done = subprocess.run([str(word) for word in tools.command(folder, ["sh", "-c", script])], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, f"the program was harmed: {done.returncode} {done.stderr}")


run_topics(says_the_same_as_the_whole_run, waits_where_it_would_take_the_programs_time, is_not_of_a_trace_that_somebody_cut)
