"""The pytest plug-in: limits of the memory of tests (docs/python-package.md#tests-with-pytest).

    @pytest.mark.limit_leaks("1MB")      fails if the test leaves more memory than this
    @pytest.mark.limit_memory("200MB")   fails if the test needs more memory than this
    --msleaks-limit 200MB                is the limit of memory of each test without such a mark
"""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, Generator, List, Optional, TypeVar

import pytest

import msleaks

from ._measure import Measured, Measurement, lines_of_places, text_of
from ._runtime import runtime
from ._tools import Tool, ToolFailed

HINT = "run the tests under msleaks: python3 -m msleaks run -m pytest ..."
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}

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
            lines += [f"msleaks: the test leaves {text_of(measured.left_bytes)}, its limit is {text_of(self.leaks)}", *lines_of_places(measured.left)]
        if self.memory is not None and measured.peak_bytes > self.memory:
            lines += [f"msleaks: the test needs {text_of(measured.peak_bytes)}, its limit is {text_of(self.memory)}", *lines_of_places(measured.at_peak)]
        return "\n".join(lines)


class Plugin:
    def __init__(self) -> None:
        self.limits: Dict[str, Limits] = {}  # of the tests that have limits
        self.complaints: Dict[str, str] = {}
        self.not_checked = 0
        self.tool: Optional[Tool] = None

    def pytest_collection_modifyitems(self, items: List[pytest.Item]) -> None:
        for item in items:
            try:
                limits = Limits(item)
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: {error}") from None
            if limits:
                self.limits[item.nodeid] = limits
        if self.limits and runtime.loaded:  # now, because a test may replace PATH and its environment
            try:
                self.tool = Tool()
            except ToolFailed as error:
                raise pytest.UsageError(f"msleaks: {error}") from None

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
            if limits is None or measurement is None or self.tool is None or outcome.excinfo is not None:
                return
            try:
                complaint = limits.complaint(measurement.end(self.tool))
            except (RuntimeError, ToolFailed) as error:
                complaint = f"msleaks: the limits could not be checked: {error}"
            if complaint:
                self.complaints[item.nodeid] = complaint

    @wrapper
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, None]:
        complaint = self.complaints.pop(item.nodeid, "") if call.when == "call" else ""
        if complaint:  # the test fails by an exception, as the mark xfail expects
            try:
                pytest.fail(complaint, pytrace=False)
            except pytest.fail.Exception:
                call.excinfo = pytest.ExceptionInfo.from_current()
        yield

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
