"""What msleaks-run ends with, and what reaches the program: exit statuses, signals, refusals before it starts."""
import os
import pty
import shutil
import signal
import stat
import subprocess
import time

from run_e2e import Tools, check, manifest, session_gone

tools = Tools()


def expect_status(done, status, *words):
    check(done.returncode == status, f"exit status {done.returncode}, not {status}: {done.stderr}")
    for word in words:
        check(word in done.stderr, f"no '{word}' in: {done.stderr}")


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
                          (["--ring-kib", "many"], "--ring-kib"), (["--events", "alloc,nonsense"], "nonsense"),
                          (["--ring-kib", "1024", "--ring-max-kib", "16"], "--ring-max-kib"), (["--log-level", "loud"], "loud"),
                          (["--error-exitcode", "0"], "--error-exitcode")]:
        done, folder = tools.run(["touch", witness], *options)
        expect_status(done, 2, word)
        check(not witness.exists() and not folder.exists(), f"{options}: the program ran")
    done = subprocess.run([tools.run_tool], stderr=subprocess.PIPE, text=True)
    expect_status(done, 2, "no program")


def refuses_an_output_before_the_program_starts():
    witness = tools.scratch / "witness"
    full = tools.folder("full")
    full.mkdir()
    (full / "file").write_text("mine")
    link = tools.scratch / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(tools.scratch / "elsewhere")
    for output in (full, link, tools.scratch / "a\nb", "/proc/no/such", tools.scratch / "plain" / "x"):
        done = subprocess.run(tools.command(output, ["touch", witness]), stderr=subprocess.PIPE, text=True)
        check(done.returncode in (2, 4), f"{output}: exit status {done.returncode}: {done.stderr}")
        check(done.stderr.count("\n") == 1 and done.stderr.startswith("msleaks-run: error: "), f"not one line: {done.stderr}")
        check(not witness.exists(), f"{output}: the program ran")
    check(os.listdir(full) == ["file"], "somebody else's folder was changed")


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


def on_a_terminal(program, *options, keys=b"", after=b""):
    """Runs in the foreground of a terminal of its own, types `keys` when `after` was printed; what it shows, and its status."""
    folder = tools.folder()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(tools.run_tool, [*map(str, tools.command(folder, program, "--no-report", *options))])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the other side has gone
            break
        shown += piece
        if keys and after in shown:
            os.write(terminal, keys)
            keys = b""
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shows_progress_on_a_terminal_only():
    shown, status = on_a_terminal(["sleep", "1.6"])
    check(status == 0 and b"\r\x1b[Kmsleaks: " in shown and shown.endswith(b"\r\x1b[K"), f"{shown}")
    done, _ = tools.run(["sleep", "1.6"], "--no-report")
    check(done.stderr == "", f"{done.stderr}")


def leaves_the_keys_of_the_terminal_to_the_program():
    program = tools.compile("signals.c")
    shown, status = on_a_terminal(["sh", "-c", f"{program} & sleep 0.3; kill -TERM $!; wait $!; echo end $?"], keys=b"\x03", after=b"no")
    check(b"end 9" in shown and status == 0, f"{shown}")
    # Ctrl-C reaches the program once, not once more through us.
    shown, status = on_a_terminal(["sh", "-c", f"trap : INT; (sleep 0.5; kill -TERM $$) & exec {program}"], keys=b"\x03", after=b"ready")
    check(shown.replace(b"^C", b"").split() == [b"ready", b"2", b"15"] and status == 9, f"{shown} {status}")


def works_from_a_folder_with_a_space():
    prefix = tools.scratch / "a prefix: x"
    shutil.rmtree(prefix, ignore_errors=True)
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").mkdir()
    shutil.copy(tools.run_tool, prefix / "bin")
    for library in (tools.bin.parent / "lib").glob("libmsleaks_*.so"):
        shutil.copy(library, prefix / "lib")
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
    script = "exec 2>&-; exec \"$@\""  # our own files must not get its number
    done = subprocess.run(["sh", "-c", script, "sh", *tools.command(folder, ["sh", "-c", "exit 6"])])
    check(done.returncode == 6, f"exit status {done.returncode}")
    check(manifest(folder)["state"] == "complete", "not complete")
    check(not tools.summary(folder)["damage"], "something was written into the trace")
    folder = tools.folder()
    done = subprocess.run(["sh", "-c", script, "sh", *tools.command(folder, ["sh", "-c", "ls -l /proc/self/fd/2"])], stdout=subprocess.PIPE)
    check(done.stdout == b"", "the program finds a stream that it was not given")


def fails_for_findings_when_asked():
    done, _ = tools.run(["sh", "-c", "exit 3"], "--error-exitcode", "9")
    check(done.returncode in (3, 9), f"exit status {done.returncode}")
    leaking = tools.scratch / "leak.c"
    leaking.write_text("#include <stdlib.h>\nint main(void) { return malloc(10) ? 0 : 1; }\n")
    check(subprocess.run(["cc", "-O0", "-o", tools.scratch / "leak", leaking]).returncode == 0, "it does not compile")
    expect_status(tools.run([tools.scratch / "leak"])[0], 0)
    expect_status(tools.run([tools.scratch / "leak"], "--error-exitcode", "9", "--no-report")[0], 9)


for topic in [passes_the_exit_status_on, ends_by_the_signal_that_ended_the_program, says_why_a_program_does_not_start,
              runs_a_script_without_interpreter_line, refuses_bad_usage_before_the_program_starts,
              refuses_an_output_before_the_program_starts, reads_options_only_up_to_the_program, names_the_folder_by_itself,
              makes_outputs_for_the_owner_and_the_group, lets_the_streams_through, keeps_the_environment, hands_signals_on,
              stops_and_continues_with_the_program, shows_progress_on_a_terminal_only,
              leaves_the_keys_of_the_terminal_to_the_program, works_from_a_folder_with_a_space, keeps_ignored_signals_ignored, goes_on_when_stderr_is_closed,
              fails_for_findings_when_asked]:
    print(topic.__name__.replace("_", " "), flush=True)
    topic()
