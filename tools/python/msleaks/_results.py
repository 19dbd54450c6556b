"""Reads runs as tables: lists of dicts. The programs of msleaks compute all figures (docs/report.md#json-of-a-report)."""
from __future__ import annotations

import functools
import importlib
import json
import os
import subprocess
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Union

from ._tools import Tool, outside_of_session, path_of
from ._tools import ToolFailed as ToolFailed  # the package exports it

Path = Union[str, "os.PathLike[str]"]
Row = Dict[str, Any]

_PLACE = ("file", "line", "column", "function", "variable", "type", "library")


def _output(*arguments: Path) -> bytes:
    return Tool().output(*arguments)


class Table(List[Row]):
    """A list of rows. Each row is a dict with the same keys."""

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame. An ImportError says that pandas is not installed."""
        return importlib.import_module("pandas").DataFrame(list(self))


def _place(site: Any) -> Row:
    """Returns the columns of a place. All are None if the place is not known."""
    site = site or {}
    return {**{name: site.get(name) for name in _PLACE}, "site": site.get("id")}


def _line(row: Row, **more: Any) -> Row:
    """Returns a line of a list of a report (docs/report.md#a-line-of-a-list), with its place as columns."""
    allocator = row.get("allocator") or {}
    found = {"bytes": row["bytes"], "count": row["count"], **_place(row.get("site")), **more}
    for name in ("variable", "type"):  # of the innermost call, if the place itself has none
        found[name] = found[name] if found[name] is not None else allocator.get(name)
    return {**found, "own": row.get("own"), "paths": row.get("paths", [])}


class Run:
    """A run folder or a result file. Each table is computed when it is used for the first time."""

    def __init__(self, path: Path, options: Sequence[str]) -> None:
        self.path, self._options = path, options

    def __repr__(self) -> str:
        return f"<msleaks.Run {os.fspath(self.path)}: peak {self.peak_bytes} bytes, {len(self.findings)} findings>"

    @functools.cached_property
    def report(self) -> Row:
        """The report as JSON."""
        found: Row = json.loads(_output("report", self.path, "--json", *self._options))
        return found

    @property
    def peak_bytes(self) -> int:
        return int(self.report["peak"]["bytes"])

    @property
    def leaked_bytes(self) -> int:
        """The bytes of the leaks that count (docs/report.md#findings-that-count)."""
        return int(self.report["leaks"]["found"]["bytes"])

    @functools.cached_property
    def peak(self) -> Table:
        """The blocks that were alive at the peak, by place."""
        return Table(_line(row) for row in self.report["peak"]["by_site"])

    @functools.cached_property
    def end(self) -> Table:
        """The blocks that were alive at the end, by place. The column `state` is leak, suppressed, alive or unsure."""
        report = self.report
        parts = (("leak", report["leaks"]), ("suppressed", report["leaks"]["suppressed"]), ("alive", report["alive_at_end"]),
                 ("unsure", report["unsure"]))
        return Table(_line(row, heap=row["heap"], state=state) for state, part in parts for row in part["by_site"])

    @functools.cached_property
    def findings(self) -> Table:
        """The findings, the most important one first."""
        kept = ("id", "kind", "confidence", "heap", "device", "saves_bytes", "saves_cumulative_bytes", "owner", "advice", "evidence")
        return Table(_line(row, **{name: row[name] for name in kept}) for row in self.report["findings"])

    @functools.cached_property
    def allocations(self) -> Table:
        """All allocations of the run, by place."""
        return self.section("allocations")

    @functools.cached_property
    def owners(self) -> Table:
        """The memory of each owner."""
        return self.section("owners")

    def section(self, name: str) -> Table:
        """Returns a section of the report as a table. It is empty if the report has no such section."""
        return Table(row for section in self.report["sections"] if section["name"] == name for row in _section_rows(section))

    @functools.cached_property
    def series(self) -> Row:
        """The memory over time, and in each step (docs/formats.md#the-series-of-a-run)."""
        found: Row = json.loads(_output("export", self.path, "--format", "series"))
        return found

    @functools.cached_property
    def steps(self) -> Table:
        """The steps, with their peaks and the bytes that were alive at their ends."""
        return Table(self.series["steps"])

    def events(self, *kinds: str) -> Iterator[Row]:
        """Yields the events of these kinds, such as "alloc" or "mark"; of all kinds without an argument."""
        some = ["--kind", ",".join(kinds)] if kinds else []
        command = [path_of("msleaks"), "dump", self.path, "--json", *some]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **outside_of_session()) as dump:
            assert dump.stdout and dump.stderr
            try:
                for line in dump.stdout:
                    yield json.loads(line)
                message = dump.stderr.read().decode(errors="replace").strip()
            finally:
                dump.stdout.close()  # if the caller stops early, the program ends by SIGPIPE
        if dump.returncode:
            raise ToolFailed(message, dump.returncode)


def _section_rows(section: Row) -> Iterable[Row]:
    for values in section["rows"]:
        row: Row = {}
        for column, value in zip(section["columns"], values):
            row.update(_place(value) if column["unit"] == "place" else {column["name"]: value})
        yield row


class Comparison:
    """The differences between two runs (docs/compare.md)."""

    def __init__(self, report: Row) -> None:
        self.report = report

    def __repr__(self) -> str:
        return f"<msleaks.Comparison: peak {self.peak_change_bytes:+} bytes, {len(self.places)} places differ>"

    @property
    def differs(self) -> bool:
        return bool(self.report["differs"])

    @property
    def peak_change_bytes(self) -> int:
        return int(self.report["peak"]["change_bytes"])

    @functools.cached_property
    def places(self) -> Table:
        """The places whose memory differs at the moment of the comparison, the largest change first."""
        return self._table(self.report["sites"])

    @functools.cached_property
    def leaks(self) -> Table:
        """The places whose leaks differ."""
        return self._table(self.report["leaks"]["sites"])

    @functools.cached_property
    def allocated(self) -> Table:
        """The places that allocated more or less in the whole run."""
        return self._table(self.report["allocated"]["sites"])

    @staticmethod
    def _table(rows: Iterable[Row]) -> Table:
        def flat(row: Row) -> Row:
            place = {**_place(row["site"]), "variable": row["variable"], "type": row["type"]}
            sides = {f"{side}_{name}": (row[side] or {}).get(name, 0) for side in ("before", "after") for name in ("bytes", "count")}
            return {"change_bytes": row["change_bytes"], "state": row["state"], **place, **sides}

        return Table(flat(row) for row in rows if row["state"] != "same")


def read(run: Path, *options: str) -> Run:
    """Reads a run folder or a result file. The options are those of `msleaks report`, such as "--from", "step:3".

    A ToolFailed says why the run cannot be read.
    """
    found = Run(run, options)
    found.report  # a run that cannot be read is an error here, not later
    return found


def compare(a: Path, b: Path, *options: str) -> Comparison:
    """Compares two runs. The options are those of `msleaks compare`, such as "--at", "end"."""
    return Comparison(json.loads(_output("compare", a, b, "--json", *options)))
