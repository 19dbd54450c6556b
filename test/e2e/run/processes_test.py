"""Runs many processes and threads in one session. msleaks must record the right number of events of each, or report what is missing."""
import json
import os
import re
import signal
import subprocess
import time

from run_e2e import Tools, Unavailable, check, expect_account, expect_quiet, manifest, run_topics, session_gone, wait_until

tools = Tools()
family = tools.compile("family.c")
PAIRS = 100
ONLY_CALLS = ["--access", "calls"]  # no events of sampled blocks, which differ from run to run


def recorded(mode, number, *options, **kwargs):
    done, folder = tools.run([family, mode, str(number)], "--no-report", *options, **kwargs)
    summary = tools.summary(folder)
    expect_account(summary, 0)
    expect_quiet(folder)
    session_gone(folder)
    return done, folder, summary


def churning(summary):
    """Returns the event streams of the threads of programs/churn.c, except the thread that starts them."""
    return [stream for stream in summary["streams"] if re.fullmatch(r"churn\d+", stream["thread"])]


def events_by_process(summary):
    sums = {process["process"]: 0 for process in summary["processes"]}
    for stream in summary["streams"]:
        sums[stream["process"]] += stream["stored"]
    return sums


def follows_a_fork_without_exec():
    done, folder, summary = recorded("fork", 20)
    check(done.stdout == f"{sum(range(20))}\n", f"the program notices: {done.stdout}")
    sums = events_by_process(summary)
    check(len(sums) == 21, f"{len(sums)} processes")
    children = [count for process, count in sums.items() if process != 1]
    check(all(2 * PAIRS <= count < 2 * PAIRS + 100 for count in children), f"events of children: {children}")
    check(sums[1] >= 4 * PAIRS, f"events of the parent: {sums[1]}")
    check(manifest(folder)["processes"][-1]["exit_status"] == 0 and len(manifest(folder)["processes"]) == 21,
          f"processes are missing: {manifest(folder)['processes']}")


def follows_every_image_of_a_process():
    done, folder, summary = recorded("exec", 10)
    check(done.returncode == 5, f"exit status {done.returncode}")
    check(len(summary["processes"]) == 10 and len({process["pid"] for process in summary["processes"]}) == 1,
          f"{summary['processes']}")
    check([process["command"][2] for process in summary["processes"]] == [str(10 - i) for i in range(10)], "not in their order")
    check(all(count >= 2 * PAIRS for count in events_by_process(summary).values()), "an image is missing events")
    statuses = [process["exit_status"] for process in manifest(folder)["processes"]]
    check(statuses == [-1] * 9 + [5], f"only the last image ends: {statuses}")


def knows_ranks():
    """torchrun and others start each rank with a variable in its environment."""
    start = 'for rank in 0 1 2; do RANK=$rank "$0" -c "sleep 0.1"; done'
    _, folder = tools.run(["sh", "-c", start, "/bin/sh"], "--no-report")
    processes = json.loads(tools.verb("report", folder, "--json").stdout)["processes"]
    ranks = {process["rank"] for process in processes}
    check(ranks == {None, 0, 1, 2}, f"ranks: {processes}")


def follows_short_threads():
    _, _, summary = recorded("threads", 200)
    made = [stream for stream in summary["streams"] if stream["stream"] != 0]  # stream 0 belongs to the main thread
    check(len([stream for stream in made if stream["stored"] >= 2 * PAIRS]) == 200, "a thread is missing")


def follows_short_threads_in_small_rings():
    _, _, summary = recorded("threads", 200, "--ring-kib", "16", "--ring-max-kib", "16")
    check(sum(stream["stored"] for stream in summary["streams"]) >= 200 * 2 * PAIRS, "events are missing")


def follows_eight_processes_at_once():
    churn = tools.compile("churn.c")
    script = "".join(f"'{churn}' '{tools.scratch}/rank{rank}' 2 100000 & " for rank in range(8)) + "wait"
    done, folder = tools.run(["sh", "-c", script], "--no-report", *ONLY_CALLS)
    check(done.returncode == 0 and done.stdout == "done\n" * 8, f"{done.stdout} {done.stderr}")
    summary = tools.summary(folder)
    expect_account(summary, 0)
    expect_quiet(folder)
    threads = churning(summary)
    check(len(threads) == 16, f"{len(threads)} threads")
    check(all(stream["in_sequence"] and stream["stored"] == 200_000 for stream in threads), "events are missing")


def follows_hundreds_of_processes():
    done, folder = tools.run(["sh", "-c", "for i in $(seq 300); do ls / > /dev/null; done"], "--no-report")
    check(done.returncode == 0, done.stderr)
    summary = tools.summary(folder)
    expect_account(summary, 0)
    expect_quiet(folder)
    listing = [process for process in summary["processes"] if process["command"] == ["ls", "/"]]
    check(len(listing) == 300, f"{len(listing)} of 300 processes")


def waits_for_a_process_that_ends_shortly_after():
    _, folder, summary = recorded("leave", 70)
    check(len(summary["processes"]) == 2, f"{summary['processes']}")
    check(manifest(folder)["notes"] == [], f"{manifest(folder)['notes']}")


def leaves_a_process_that_goes_on():
    start = time.monotonic()
    folder = tools.folder()
    command = tools.command(folder, [family, "leave", "3000"], "--no-report")
    # The output must not go to a pipe, because the child would keep the pipe open.
    check(subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0, "exit status")
    check(time.monotonic() - start < 2.5, "waited for somebody else's child")
    notes = manifest(folder)["notes"]
    check(any("still running" in note and "leave" in note for note in notes), f"{notes}")
    summary = tools.summary(folder)
    check(summary["closed"], "the trace is not closed")
    for stream in summary["streams"]:
        check(stream["produced"] == stream["stored"] + stream["dropped"], f"does not add up: {stream}")
    session_gone(folder)


def keeps_the_newest_in_a_flight_recorder():
    churn = tools.compile("churn.c")
    done, folder = tools.run([churn, tools.scratch / "counts", "2", "200000"], "--no-report", "--on-full", "overwrite",
                             "--ring-kib", "64", *ONLY_CALLS)
    check(done.returncode == 0, done.stderr)
    summary = tools.summary(folder)
    expect_account(summary)
    expect_quiet(folder)
    for stream in churning(summary):
        check(stream["produced"] == 400_000, f"{stream}")
        check(0 < stream["stored"] <= 64 * 1024 // 32, f"more than the ring: {stream}")


def counts_what_is_dropped():
    churn = tools.compile("churn.c")
    done, folder = tools.run([churn, tools.scratch / "counts", "2", "300000"], "--no-report", "--on-full", "drop",
                             "--ring-kib", "16", "--ring-max-kib", "16", *ONLY_CALLS)
    check(done.returncode == 0, done.stderr)
    summary = tools.summary(folder)
    expect_account(summary)
    threads = churning(summary)
    check(all(stream["produced"] == 600_000 for stream in threads), f"{threads}")
    check(sum(stream["dropped"] for stream in threads) > 0, "nothing was dropped from rings of 512 events")


def records_only_what_is_asked_for():
    churn = tools.compile("churn.c")
    _, folder = tools.run([churn, tools.scratch / "counts", "1", "1000"], "--no-report", "--events", "alloc")
    streams = tools.summary(folder)["streams"]
    check(all(stream["thread"] != "msleaks" for stream in streams), f"the collector has recorded looks at blocks: {streams}")
    stream = next(stream for stream in streams if stream["thread"] == "churn0")
    check(stream["stored"] == 1000 and stream["in_sequence"], f"{stream}")


def report(folder):
    return json.loads(tools.verb("report", folder, "--json").stdout)


def counts_processes_one_after_the_other_once():
    """Three processes allocate one gigabyte each, one after another. The memory of a process is freed when it ends, so the peak is one
    gigabyte."""
    gigabyte = tools.compile("gigabyte.c")
    _, folder = tools.run(["sh", "-c", f"for i in 1 2 3; do '{gigabyte}'; done"], "--no-report")
    peak = report(folder)["peak"]["bytes"]
    check(1 << 30 <= peak < 1.5 * (1 << 30), f"the peak of one after the other is {peak / (1 << 30):.2f} GiB")
    _, folder = tools.run(["sh", "-c", f"'{gigabyte}'; '{gigabyte}' & '{gigabyte}'; wait"], "--no-report")
    check(report(folder)["leaks"]["bytes"] >= 3 << 30, "what all three left")


def knows_an_end_that_it_noticed_late():
    """Stops the collector while one process ends and the next process begins. The peak must not contain both processes."""
    gigabyte, folder = tools.compile("gigabyte.c"), tools.folder("late")
    script = f"'{gigabyte}' one; '{gigabyte}' two"
    run = subprocess.Popen(tools.command(folder, ["sh", "-c", script], "--no-report"), stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True, bufsize=1)
    check(run.stdout.readline() == "one\n", "the first does not begin")
    wait_until(lambda: tools.verb("ctl", folder, "snapshot").returncode == 0, "the collector answers")
    run.send_signal(signal.SIGSTOP)
    run.stdin.write("\n")
    check(run.stdout.readline() == "two\n", "the second does not begin")
    run.send_signal(signal.SIGCONT)
    run.communicate("\n", timeout=60)
    peak = report(folder)["peak"]["bytes"]
    check(1 << 30 <= peak < 1.5 * (1 << 30), f"the peak of one after the other is {peak / (1 << 30):.2f} GiB")


def counts_what_an_exec_replaces_as_no_leak():
    _, folder = tools.run([tools.compile("exec_storm.c"), "200"], "--no-report")
    result = report(folder)
    check(len(result["processes"]) == 401, f"{len(result['processes'])} images")
    check(result["leaks"]["bytes"] == 0, f"false leaks: {result['leaks']['by_site']}")


def keeps_equal_pids_apart():
    """Runs two processes in pid namespaces of their own. Both have the pid 1, but the report must list them separately."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-fp", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Unavailable("a pid namespace of one's own needs root")
    leak = tools.compile("leak.c")
    _, folder = tools.run(["sh", "-c", f"unshare -fp '{leak}'; unshare -fp '{leak}'"], "--no-report")
    result = report(folder)
    firsts = [process for process in result["processes"] if process["pid"] == 1 and process["command"] == [str(leak)]]
    check([process["fate"] for process in firsts] == ["exited"] * 2, f"{result['processes']}")
    leaked = [row for row in result["leaks"]["by_site"] if (row["site"]["library"] or "").endswith("/leak")]
    check([row["count"] for row in leaked] == [2], f"not the leaks of both: {leaked}")


def says_that_a_process_goes_on():
    folder = tools.folder()
    command = tools.command(folder, [family, "leave", "2000"], "--no-report")
    check(subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0, "exit status")
    result = report(folder)
    check([process["fate"] for process in result["processes"]].count("running") == 1, f"{result['processes']}")


def counts_children_that_cannot_be_seen():
    unseen = tools.compile("unseen.c")
    if os.geteuid() != 0:
        raise Unavailable("changing the user or the root directory needs root")
    for mode, why in ("c", "No such file or directory"), ("n", "Too many open files"):
        done, folder = tools.run([unseen, mode], "--no-report")
        check(done.returncode == 0 and done.stdout == "3\n", f"{mode}: the program notices: {done}")
        report = json.loads(tools.verb("report", folder, "--json").stdout)
        check(not report["session"]["complete"], f"{mode}: a process was not seen, and the run is complete")
        check(any("could not make its files: " + why in note for note in report["notes"]), f"{mode}: {report['notes']}")
        session_gone(folder)


def follows_a_process_that_becomes_another_user():
    if os.geteuid() != 0:
        raise Unavailable("changing the user needs root")
    done, folder = tools.run([tools.compile("unseen.c"), "u"], "--no-report")
    check(done.returncode == 0 and done.stdout == "3\n", f"the program notices: {done}")
    result = report(folder)
    check(result["session"]["complete"], f"{result['notes']}")
    check(len(result["processes"]) == 2, f"{result['processes']}")
    session_gone(folder)


def leaving(*words):
    done, folder = tools.run([tools.compile("leaves.c"), *words], "--no-report")
    check(done.returncode == 7, f"{words}: the program notices: {done}")
    session_gone(folder)
    return report(folder)


def says_that_it_lost_sight_of_a_program():
    """Starts processes that msleaks cannot record: with an environment that does not name the session, or with a static program. The
    report must not say that it is complete."""
    for how in "execve", "execle", "clearenv", "vfork", "spawn":
        result = leaving(how)
        check(not result["session"]["complete"], f"{how}: {result['processes']}")
        check(len(result["processes"]) == 2, f"{how}: {result['processes']}")
        check(any("environment" in note for note in result["notes"]), f"{how}: {result['notes']}")
    result = leaving("other", tools.compile("silent.c", "-static"))
    check(not result["session"]["complete"] and any("static" in note for note in result["notes"]), f"{result['notes']}")


def follows_a_program_that_keeps_its_environment():
    for how in "kept", "kept_v", "failed", "spawn_kept":
        result = leaving(how)
        check(result["session"]["complete"], f"{how}: {result['notes']} {result['processes']}")
        check(len(result["processes"]) == (1 if how == "failed" else 2), f"{how}: {result['processes']}")


def sees_a_program_that_allocates_nothing():
    silent = tools.compile("silent.c")
    done, folder = tools.run([silent], "--no-report")
    check(done.returncode == 7, f"{done}")
    for result in report(folder), leaving("other", silent):
        check(result["session"]["complete"], f"{result['notes']} {result['processes']}")


def says_what_was_resident():
    """Compares resident memory with allocated memory. The parent touches half of its 64 MiB, and the child all of its 32 MiB."""
    done, folder = tools.run([tools.compile("resident.c")])
    check(done.returncode == 0, f"{done}")
    result = report(folder)
    mib = 1 << 20
    parent, child = sorted(result["peak"]["by_process"], key=lambda process: -process["bytes"])
    for process, bytes_, touched in ((parent, 64 * mib, 32 * mib), (child, 32 * mib, 32 * mib)):
        check(process["bytes"] >= bytes_, f"{process}")
        check(touched <= process["highest_resident_bytes"] < touched + 24 * mib, f"{process}")
    check("resident" in done.stderr, done.stderr)
    tables = {section["name"]: section["rows"] for section in result["sections"]}
    check(len(tables["resident"]) == 2 and {row[0] for row in tables["process_places"]} == {row[0] for row in tables["resident"]},
          f"{tables['resident']} {tables['process_places']}")


run_topics(knows_ranks, follows_a_fork_without_exec, follows_every_image_of_a_process, follows_short_threads,
           follows_short_threads_in_small_rings, follows_eight_processes_at_once, follows_hundreds_of_processes,
           waits_for_a_process_that_ends_shortly_after, leaves_a_process_that_goes_on, keeps_the_newest_in_a_flight_recorder,
           counts_what_is_dropped, records_only_what_is_asked_for, counts_processes_one_after_the_other_once,
           knows_an_end_that_it_noticed_late,
           counts_what_an_exec_replaces_as_no_leak, keeps_equal_pids_apart, says_that_a_process_goes_on,
           counts_children_that_cannot_be_seen, follows_a_process_that_becomes_another_user, says_that_it_lost_sight_of_a_program,
           follows_a_program_that_keeps_its_environment, sees_a_program_that_allocates_nothing, says_what_was_resident)
