"""Finds and runs the programs `msleaks` and `msleaks-run`."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import run as _run  # a test may replace subprocess.run
from typing import Any, Dict, Iterable, List, NoReturn, Sequence, Set, Tuple, Union

_INSIDE = Path(__file__).resolve().parent / "_native" / "bin"  # where a wheel has the programs
_FINDINGS = 1  # the exit status of a report with findings, or of a comparison of runs that differ
_NOT_FOUND = 127  # as a shell says it
_SESSION, _NO_SESSION = "MSLEAKS_SESSION", "/no/session"


class ToolFailed(Exception):
    """A program of msleaks has refused its input, or was not found. `status` is its exit status."""

    def __init__(self, message: str, status: int = _NOT_FOUND) -> None:
        super().__init__(message)
        self.status = status


def path_of(name: str) -> str:
    """Returns the path of a program of msleaks: of the wheel, or else in PATH."""
    inside = _INSIDE / name
    if inside.exists():
        return str(inside)
    found = shutil.which(name)
    if found is None:
        raise ToolFailed(f"the program `{name}` is not in PATH: add the folder of msleaks' programs to PATH")
    return found


def outside_of_session() -> Dict[str, Any]:
    """Returns the options of `subprocess` for a program of msleaks, which is no part of the recording of this process.

    The program loads the hooks, but finds no session. An environment without them would count as a process that msleaks could not
    follow. With close_fds=False, Python starts the program by posix_spawn. A fork would be a process of the recording.
    """
    environment = {**os.environ, _SESSION: _NO_SESSION} if _SESSION in os.environ else dict(os.environ)
    return {"env": environment, "close_fds": False}


class Tool:
    """The program `msleaks`, with its path and environment as they are now. A program may change PATH and its environment later."""

    def __init__(self) -> None:
        self._path, self._options = path_of("msleaks"), outside_of_session()

    def output(self, *arguments: Union[str, "os.PathLike[str]"]) -> bytes:
        done: subprocess.CompletedProcess[bytes] = _run([self._path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **self._options)
        if done.returncode not in (0, _FINDINGS):
            raise ToolFailed(done.stderr.decode(errors="replace").strip(), done.returncode)
        return done.stdout


def become(name: str, arguments: Iterable[str]) -> NoReturn:
    """Replaces this process by a program of msleaks. So exit status and signals are those of the program."""
    try:
        path = path_of(name)
    except ToolFailed as failure:
        print(f"msleaks: {failure}", file=sys.stderr)
        sys.exit(_NOT_FOUND)
    sys.stdout.flush()
    sys.stderr.flush()
    for ignored in ("SIGPIPE", "SIGXFZ", "SIGXFSZ"):  # Python ignores these signals, but the program must not
        if hasattr(signal, ignored):
            signal.signal(getattr(signal, ignored), signal.SIG_DFL)
    os.execv(path, [name, *arguments])


def _options_of_run() -> Tuple[Set[str], Set[str]]:
    """Returns the options of msleaks-run with a value, and those without one."""
    path = path_of("msleaks-run")
    described = _run([path, "--describe-options"], stdout=subprocess.PIPE, **outside_of_session())
    if described.returncode:
        raise ToolFailed(f"{path} --describe-options failed with the status {described.returncode}: is it the program of this msleaks?", described.returncode)
    options: List[Any] = json.loads(described.stdout)["options"]
    with_value = {name for option in options if option["value"] is not None for name in option["names"]}
    return with_value, {name for option in options for name in option["names"]} - with_value


def split(arguments: Sequence[str], with_value: Set[str], flags: Set[str]) -> Tuple[List[str], List[str]]:
    """Splits `[options of msleaks-run] [--] [options of Python] script arguments...` into the first and the other words.

    A word such as `--unknown` stays with msleaks-run, which refuses it.
    """
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return list(arguments[:at]), list(arguments[at + 1 :])
        if word in with_value:
            at += 2
        elif word in flags or word == "-h" or word.startswith("--") or (word[:2] in with_value and word[:2] != "--"):
            at += 1
        else:
            break
    return list(arguments[:at]), list(arguments[at:])


def run_python(arguments: Sequence[str]) -> NoReturn:
    """Runs a Python script, or Python with the options `-m` or `-c`, under msleaks-run."""
    try:
        options, program = split(arguments, *_options_of_run())
    except ToolFailed as failure:
        print(f"msleaks: {failure}", file=sys.stderr)
        sys.exit(failure.status)
    become("msleaks-run", [*options, *(["--", sys.executable, *program] if program else [])])


def msleaks() -> NoReturn:
    """The program `msleaks` of a wheel."""
    become("msleaks", sys.argv[1:])


def msleaks_run() -> NoReturn:
    """The program `msleaks-run` of a wheel."""
    become("msleaks-run", sys.argv[1:])
