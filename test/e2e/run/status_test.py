"""Tests the exit statuses of msleaks-run, the signals that reach the program, and errors that msleaks-run reports before the
program starts."""
import os
import signal
import stat
import subprocess
import time

from run_e2e import Tools, check, expect_status, manifest, run_topics, session_gone

tools = Tools()


def shell(script, *options, **kwargs):
    return tools.run(["sh", "-c", script], "--no-report", *options, **kwargs)


def passes_the_exit_status_on():
    for status in (0, 1, 7, 126, 127, 255):
        done, folder = shell(f"exit {status}")
        expect_status(done, status)
        check(done.stderr == "", f"a run in which all is well prints: {done.stderr}")
        check(manifest(folder)["processes"][0]["exit_status"] == status, "the manifest says otherwise")
        session_gone(folder)


def ends_by_the_signal_that_ended_the_program():
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGINT):
        done, folder = shell(f"kill -{int(number)} $$")
        expect_status(done, -number)
        check(manifest(folder)["processes"][0]["exit_status"] == 128 + number, "the manifest says otherwise")
        check(not any(name.startswith("core") for name in os.listdir(".")), "a core of our own")


def says_why_a_program_does_not_start():
    plain = tools.scratch / "plain"
    plain.write_text("not a program\n")
    for command, status, word in [("no-such-program", 127, "No such file"), ("./no/such", 127, "No such file"),
                                  (plain, 126, "Permission denied"), (tools.scratch, 126, "directory")]:
        done, folder = tools.run([command])
        expect_status(done, status, str(command), word)
        check(done.stderr.count("\n") == 1, f"more than one line: {done.stderr}")
        check(not folder.exists(), "half a recording is left")


def finds_programs_as_a_shell_does():
    here = tools.folder("here")
    here.mkdir()
    (here / "mine").write_text("exit 6\n")
    (here / "mine").chmod(0o755)
    for path, status in (("/bin:", 6), (":/bin", 6), ("/bin::/usr/bin", 6), ("", 6), (".", 6), ("/bin", 127)):
        done, _ = tools.run(["mine"], "--no-report", cwd=here, env={"PATH": path})
        check(done.returncode == status, f"PATH={path}: {done.returncode}: {done.stderr}")


def runs_a_script_without_interpreter_line():
    script = tools.scratch / "script"
    script.write_text("exit 3\n")
    script.chmod(0o755)
    expect_status(tools.run([script], "--no-report")[0], 3)
    broken = tools.scratch / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    done, folder = tools.run([broken])
    expect_status(done, 127, "broken")
    check(not folder.exists(), "half a recording is left")


def refuses_bad_usage_before_the_program_starts():
    witness = tools.scratch / "witness"
    for options, word in [(["--nosuch"], "--nosuch"), (["--on-full", "maybe"], "block, drop, overwrite"), (["--ring-kib", "1"], "--ring-kib"),
                          (["--ring-kib", "many"], "--ring-kib"), (["--events", "alloc,nonsense"], "nonsense"), (["--events", ""], "names no event"), (["--events", ","], "--events"),
                          (["--ring-kib", "1024", "--ring-max-kib", "16"], "--ring-max-kib"), (["--log-level", "loud"], "loud"),
                          (["--error-exitcode", "0"], "--error-exitcode")]:
        done, folder = tools.run(["touch", witness], *options)
        expect_status(done, 2, word)
        check(not witness.exists() and not folder.exists(), f"{options}: the program ran")
    done = subprocess.run([tools.run_tool], stderr=subprocess.PIPE, text=True)
    expect_status(done, 2, "no program")


def tells_refusals_at_every_log_level():
    for environment, options in ({}, ["--log-level", "off"]), ({"MSLEAKS_LOG": "off"}, []):
        for command, status in [(["--nosuch", "true"], 2), (["no-such-program"], 127), (["-o", "/proc/no/such", "true"], 4)]:
            done = subprocess.run([tools.run_tool, *options, *command], env={**os.environ, **environment}, stderr=subprocess.PIPE,
                                  text=True, cwd=tools.scratch)
            expect_status(done, status)
            check(done.stderr.count("\n") == 1, f"{command}: not one line: '{done.stderr}'")


def takes_the_log_level_from_the_variable_too():
    def with_variable(level, *options, program=("true",)):
        return tools.run([*program], "--no-report", *options, env={**os.environ, "MSLEAKS_LOG": level})[0]
    expect_status(with_variable("loud"), 2, "loud")
    expect_status(with_variable("loud", "--log-level", "error"), 0)  # the option has priority over the variable
    expect_status(with_variable("error", "--log-level", "loud"), 2, "loud")
    done = subprocess.run([tools.bin / "msleaks", "plugin"], env={**os.environ, "MSLEAKS_LOG": "loud"}, stderr=subprocess.PIPE, text=True)
    expect_status(done, 2, "loud")
    # Even the most verbose level must not log single events.
    churn = tools.compile("churn.c")
    done = with_variable("off", "--log-level", "trace", program=(churn, tools.scratch / "counts", "1", "100000"))
    expect_status(done, 0)
    check(done.stderr.count("\n") < 30, f"{done.stderr.count(chr(10))} lines at level trace")


def reads_options_only_up_to_the_program():
    done, _ = tools.run(["echo", "-o", "x", "--", "--help"], "--no-report")
    check(done.stdout == "-o x -- --help\n", f"the program's arguments were changed: {done.stdout}")
    folder = tools.folder()
    done = subprocess.run([tools.run_tool, "--no-report", f"--output={folder}", "--on-full=drop", "echo", "--on-full", "x"],
                          stdout=subprocess.PIPE, text=True)
    check(done.stdout == "--on-full x\n", f"without --: {done.stdout}")


def names_the_folder_by_itself():
    done = subprocess.run([tools.run_tool, "--no-report", "true"], cwd=tools.scratch)
    expect_status(done, 0)
    made = [name for name in os.listdir(tools.scratch) if name.startswith("msleaks-true-")]
    check(len(made) == 1, f"made {made}")


def makes_outputs_for_the_owner_and_the_group():
    _, folder = shell("true")
    check(stat.S_IMODE(folder.stat().st_mode) == 0o750, "the folder's mode")
    for file in folder.iterdir():
        check(stat.S_IMODE(file.stat().st_mode) == 0o640, f"the mode of {file}")


def lets_the_streams_through():
    text = "line\n" * 200_000
    done, _ = tools.run(["cat"], "--no-report", stdin=None, input=text)
    check(done.stdout == text, "stdin or stdout was changed")
    done, _ = tools.run(["sh", "-c", "head -c 50000000 /dev/zero | wc -c; echo oops >&2"], "--no-report")
    check(done.stdout.strip() == "50000000" and done.stderr == "oops\n", f"{done.stdout} {done.stderr}")


def keeps_the_environment():
    done, _ = tools.run(["env"], "--no-report", env={"PATH": os.environ["PATH"], "LD_PRELOAD": "/no/such.so", "A": "b c"})
    lines = done.stdout.splitlines()
    check("A=b c" in lines, "a variable is missing")
    preload = [line for line in lines if line.startswith("LD_PRELOAD=")]
    check(len(preload) == 1 and preload[0].endswith("libmsleaks_hooks.so:/no/such.so"), f"{preload}")
    check(sum(line.startswith("MSLEAKS_") for line in lines) == 1, "other variables of ours")


def hands_signals_on():
    program = tools.compile("signals.c")
    watched = subprocess.Popen(tools.command(tools.folder(), [program], "--no-report"), stdout=subprocess.PIPE, text=True)
    check(watched.stdout.readline() == "ready\n", "it does not start")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGTERM):
        watched.send_signal(number)
        check(watched.stdout.readline() == f"{int(number)}\n", f"signal {number} did not arrive")
    check(watched.wait() == 9, "the program's own answer to SIGTERM is lost")


def stops_and_continues_with_the_program():
    watched = subprocess.Popen(tools.command(tools.folder(), ["sleep", "0.5"], "--no-report"))
    time.sleep(0.2)
    watched.send_signal(signal.SIGTSTP)
    check(os.WIFSTOPPED(os.waitpid(watched.pid, os.WUNTRACED)[1]), "the job does not stop")
    watched.send_signal(signal.SIGCONT)
    check(watched.wait() == 0, "it does not go on")


def works_from_a_folder_with_a_space():
    prefix = tools.scratch / "a prefix: x"
    tools.copy_to(prefix)
    folder = tools.folder()
    done = subprocess.run([prefix / "bin/msleaks-run", "--no-report", "-o", folder, "ls", "/"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    check(done.returncode == 0 and done.stderr == b"", f"{done.stderr}")
    check(sum(stream["stored"] for stream in tools.summary(folder)["streams"]) > 0, "nothing was recorded")


def keeps_ignored_signals_ignored():
    done, _ = tools.run(["sh", "-c", "kill -HUP $$; echo survived"], "--no-report",
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    check(done.stdout == "survived\n", "as under nohup")
    done, _ = tools.run(["sh", "-c", "exit 4"], "--no-report", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    expect_status(done, 4)


def goes_on_when_stderr_is_closed():
    folder = tools.folder()
    script = "exec 2>&-; exec \"$@\""  # closes stderr; files that msleaks-run opens must not get descriptor 2
    done = subprocess.run(["sh", "-c", script, "sh", *tools.command(folder, ["sh", "-c", "exit 6"])])
    check(done.returncode == 6, f"exit status {done.returncode}")
    check(manifest(folder)["state"] == "complete", "not complete")
    check(not tools.summary(folder)["damage"], "something was written into the trace")
    folder = tools.folder()
    done = subprocess.run(["sh", "-c", script, "sh", *tools.command(folder, ["sh", "-c", "ls -l /proc/self/fd/2"])], stdout=subprocess.PIPE)
    check(done.stdout == b"", "the program finds a stream that it was not given")


def fails_for_findings_when_asked():
    leak = tools.compile("leak.c")
    expect_status(tools.run([leak, "3"], "--error-exitcode", "9")[0], 3)
    expect_status(tools.run([leak])[0], 0)
    expect_status(tools.run([leak], "--error-exitcode", "9", "--no-report")[0], 9)


def prints_a_short_report():
    done, folder = tools.run([tools.compile("leak.c")])
    lines = done.stderr.splitlines()
    for start in ("peak    10 B at ", "leaks   10 B in 1 block from 1 place", "events  ", "cost    collector "):
        check(any(line.startswith(start) for line in lines), f"no '{start}' in {lines}")
    events = next(line for line in lines if line.startswith("events  "))
    check(events == "events  1, complete", events)
    check(len(lines) <= 12 and not any(line.startswith("note") for line in lines), f"{lines}")
    check(lines[-1] == f"more    msleaks report {folder}", lines[-1])


def says_when_the_program_was_not_seen():
    """Runs a static program, into which the dynamic linker cannot preload the hooks. The report must not say that it is complete."""
    done, _ = tools.run([tools.compile("leak.c", "-static")])
    check("complete" not in done.stderr and "note    " in done.stderr, f"{done.stderr}")


run_topics(passes_the_exit_status_on, ends_by_the_signal_that_ended_the_program, says_why_a_program_does_not_start,
           finds_programs_as_a_shell_does, runs_a_script_without_interpreter_line, refuses_bad_usage_before_the_program_starts,
           tells_refusals_at_every_log_level, takes_the_log_level_from_the_variable_too, reads_options_only_up_to_the_program,
           names_the_folder_by_itself, makes_outputs_for_the_owner_and_the_group, lets_the_streams_through, keeps_the_environment,
           hands_signals_on, stops_and_continues_with_the_program, works_from_a_folder_with_a_space,
           keeps_ignored_signals_ignored, goes_on_when_stderr_is_closed, fails_for_findings_when_asked, prints_a_short_report,
           says_when_the_program_was_not_seen)
