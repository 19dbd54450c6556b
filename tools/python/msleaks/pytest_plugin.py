"""The pytest plug-in: limits of the memory of tests (docs/python-package.md#tests-with-pytest).

    @pytest.mark.limit_leaks("1MB")      fails if the test leaves more memory than this
    @pytest.mark.limit_memory("200MB")   fails if the test needs more memory than this
    --msleaks-limit 200MB                is the limit of memory of each test without such a mark
"""
from __future__ import annotations

import gc
import itertools
import json
import os
import re
import subprocess
import sys
from typing import Any, Callable, Dict, Generator, List, Optional, TypeVar

import pytest

import msleaks

from ._collector import run_folder
from ._runtime import runtime
from ._tools import ToolFailed, outside_of_session, path_of

HINT = "run the tests under msleaks: python3 -m msleaks run -m pytest ..."
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}
# Python keeps an arena of small objects after the objects have ended. Its size depends on the version.
_ARENA_BYTES = 1 << 20 if sys.version_info >= (3, 10) else 1 << 18
_SHOWN_PLACES = 3

Hook = TypeVar("Hook", bound=Callable[..., Any])


def wrapper(hook: Hook) -> Hook:
    marked: Hook = pytest.hookimpl(hookwrapper=True)(hook)
    return marked


def bytes_of(size: object) -> int:
    """Returns the bytes of a size such as 200MB, 1.5 GiB or 4096. As in msleaks, K, M and G are powers of 1024."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]?)i?b?\s*", str(size).lower())
    if not found:
        raise ValueError(f"'{size}' is no size: write a number with B, KB, MB or GB")
    return int(float(found[1]) * (1 << _UNITS[found[2]]))


def text_of(size: int) -> str:
    """Returns a size as msleaks prints it."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.2f} {unit}"
    return f"{size} B"


class Measured:
    """The memory of a part of the program: the blocks that this process allocated in it."""

    def __init__(self, report: Dict[str, Any]) -> None:
        self.peak_bytes = int(report["peak"]["bytes"])
        self.at_peak: List[Dict[str, Any]] = report["peak"]["by_site"]
        # Imports and the interpreter's own memory are not the test's.
        self.left = [row for row in report["leaks"]["by_site"] if row["own"] and not _is_arena(row)]
        self.left_bytes = sum(row["bytes"] for row in self.left)


def _is_arena(row: Dict[str, Any]) -> bool:
    return bool(row["heap"] == "mapping" and row["bytes"] == row["count"] * _ARENA_BYTES)


class Measurement:
    """Measures a part of the program between two marks, by a report about the run so far."""

    _numbers = itertools.count(1)

    def __init__(self) -> None:
        self._name = f"pytest {os.getpid()} {next(self._numbers)}"
        msleaks.mark(f"{self._name} begins")

    def end(self) -> Measured:
        gc.collect()  # cycles are no leaks
        msleaks.mark(f"{self._name} ends")
        if not msleaks.take_snapshot(f"{self._name} is over"):
            raise RuntimeError("msleaks-run does not answer")
        run = run_folder()
        if not run:
            raise RuntimeError("the folder of this run was not found")
        window = ["--from", f"mark:{self._name} begins", "--born-until", f"mark:{self._name} ends", "--to", f"mark:{self._name} is over"]
        command = [path_of("msleaks"), "report", run, "--json", "--pid", str(os.getpid()), *window]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **outside_of_session())
        if done.returncode not in (0, 1):  # 1: there are findings
            raise RuntimeError(done.stderr.decode(errors="replace").strip())
        return Measured(json.loads(done.stdout))


def _places(rows: List[Dict[str, Any]]) -> List[str]:
    largest = sorted(rows, key=lambda row: -int(row["bytes"]))[:_SHOWN_PLACES]
    return [f"  {text_of(row['bytes'])} in {row['count']} block{'s' * (row['count'] != 1)}: {row['site']['file'] or row['site'].get('library')}:{row['site']['line']} "
            f"in {row['site']['function']}" for row in largest]


class Limits:
    """The limits of one test. None: there is no such limit."""

    def __init__(self, item: pytest.Item) -> None:
        self.leaks = self._of(item, "limit_leaks", None)
        self.memory = self._of(item, "limit_memory", item.config.getoption("msleaks_limit"))

    @staticmethod
    def _of(item: pytest.Item, name: str, default: Optional[str]) -> Optional[int]:
        mark = item.get_closest_marker(name)
        size = (mark.args[0] if mark.args else None) if mark else default
        if mark and size is None:
            raise ValueError(f"the mark {name} needs a size, such as 1MB")
        return None if size is None else bytes_of(size)

    def __bool__(self) -> bool:
        return self.leaks is not None or self.memory is not None

    def complaint(self, measured: Measured) -> str:
        """Returns what is above its limit, with the places, or an empty text."""
        lines: List[str] = []
        if self.leaks is not None and measured.left_bytes > self.leaks:
            lines += [f"msleaks: the test leaves {text_of(measured.left_bytes)}, its limit is {text_of(self.leaks)}", *_places(measured.left)]
        if self.memory is not None and measured.peak_bytes > self.memory:
            lines += [f"msleaks: the test needs {text_of(measured.peak_bytes)}, its limit is {text_of(self.memory)}", *_places(measured.at_peak)]
        return "\n".join(lines)


class Plugin:
    def __init__(self) -> None:
        self.limits: Dict[str, Limits] = {}  # of the tests that have limits
        self.complaints: Dict[str, str] = {}
        self.not_checked = 0

    def pytest_collection_modifyitems(self, items: List[pytest.Item]) -> None:
        for item in items:
            try:
                limits = Limits(item)
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: {error}") from None
            if limits:
                self.limits[item.nodeid] = limits

    @wrapper
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        limits = self.limits.get(item.nodeid)
        if not runtime.loaded:
            self.not_checked += limits is not None
            yield
            return
        with msleaks.range(item.nodeid):
            measurement = Measurement() if limits else None
            outcome = yield
            if limits is None or measurement is None or outcome.excinfo is not None:
                return
            try:
                complaint = limits.complaint(measurement.end())
            except (RuntimeError, ToolFailed) as error:
                complaint = f"msleaks: the limits could not be checked: {error}"
            if complaint:
                self.complaints[item.nodeid] = complaint

    @wrapper
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, None]:
        outcome = yield
        report = outcome.get_result()
        complaint = self.complaints.pop(item.nodeid, "") if report.when == "call" else ""
        if complaint:
            report.outcome, report.longrepr = "failed", complaint

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.not_checked:
            terminalreporter.write_line(f"msleaks: the limits of {self.not_checked} tests were not checked; {HINT}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("msleaks").addoption("--msleaks-limit", metavar="SIZE", default=None, help="fails each test that needs more memory "
                                         "than SIZE, such as 200MB; the tests must run under msleaks-run")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "limit_leaks(size): fails the test under msleaks-run if it leaves more memory than this")
    config.addinivalue_line("markers", "limit_memory(size): fails the test under msleaks-run if it needs more memory than this")
    limit = config.getoption("msleaks_limit")
    if limit is not None:
        if not runtime.loaded:
            raise pytest.UsageError(f"--msleaks-limit: {HINT}")
        try:
            bytes_of(limit)
        except ValueError as error:
            raise pytest.UsageError(f"--msleaks-limit: {error}") from None
    config.pluginmanager.register(Plugin(), "msleaks-limits")
