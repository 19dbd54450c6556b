"""Tests msleaks-run on a terminal. msleaks-run must not read input that is meant for the program, and must not write on the
program's screen."""
import fcntl
import os
import pty
import struct
import termios

from run_e2e import Tools, check, run_topics

tools = Tools()
LINE = b"\r\x1b[Kmsleaks: "


def on_a_terminal(program, *options, keys=b"", after=b"", closed=(), columns=80, term="xterm"):
    """Runs a program under msleaks-run in the foreground of a new terminal. When the program has printed `after`, sends `keys`. Returns
    the output and the status. The streams in `closed` go to /dev/null instead of the terminal."""
    folder = tools.folder()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = term
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        for stream in closed:
            os.dup2(os.open("/dev/null", os.O_RDWR), stream)
        os.execv(tools.run_tool, [*map(str, tools.command(folder, program, "--no-report", *options))])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the program has closed its side of the terminal
            break
        shown += piece
        if keys and after in shown:
            os.write(terminal, keys)
            keys = b""
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shows_progress_where_it_is_alone():
    shown, status = on_a_terminal(["sleep", "1.6"], closed=(1,))
    check(status == 0 and LINE in shown and shown.endswith(b"\r\x1b[K"), f"{shown}")
    shown, _ = on_a_terminal(["sleep", "1.6"], closed=(0,))
    check(LINE in shown, f"{shown}")
    for options, facts in (["--no-progress"], {"closed": (1,)}), ([], {"closed": (1,), "term": "dumb"}), ([], {"closed": (1, 2)}):
        shown, _ = on_a_terminal(["sleep", "1.6"], *options, **facts)
        check(shown == b"", f"{options} {facts}: {shown}")


def leaves_the_screen_to_an_interactive_program():
    """If the program uses the terminal for input and output, msleaks-run must print no progress. The program may be an editor, or may
    ask a question in the last line."""
    script = "printf 'Password: '; sleep 1.6; echo"
    shown, status = on_a_terminal(["sh", "-c", script])
    check(status == 0 and shown == b"Password: \r\n", f"{shown}")
    shown, status = on_a_terminal(["sh", "-c", script], "--progress")
    check(LINE in shown, f"--progress: {shown}")


def fits_into_the_terminal():
    shown, _ = on_a_terminal(["sleep", "1.6"], closed=(1,), columns=30)
    lines = [line for line in shown.split(b"\r\x1b[K") if line]
    check(lines and all(len(line.rstrip(b"\r")) <= 29 for line in lines), f"wider than 30 columns: {lines}")
    # After a progress line the cursor must be in the first column, so that the program's output overwrites the line.
    check(all(line.endswith(b"\r") for line in lines[:-1]), f"the cursor stays behind the line: {lines}")


def leaves_the_keys_of_the_terminal_to_the_program():
    program = tools.compile("signals.c")
    shown, status = on_a_terminal(["sh", "-c", f"{program} & sleep 0.3; kill -TERM $!; wait $!; echo end $?"], keys=b"\x03", after=b"no")
    check(b"end 9" in shown and status == 0, f"{shown}")
    # The program must get the SIGINT of Ctrl-C once. The terminal sends this signal, so msleaks-run must not send it again.
    shown, status = on_a_terminal(["sh", "-c", f"trap : INT; (sleep 0.5; kill -TERM $$) & exec {program}"], keys=b"\x03", after=b"ready")
    check(shown.replace(b"^C", b"").split() == [b"ready", b"2", b"15"] and status == 9, f"{shown} {status}")


run_topics(shows_progress_where_it_is_alone, leaves_the_screen_to_an_interactive_program, fits_into_the_terminal,
           leaves_the_keys_of_the_terminal_to_the_program)
