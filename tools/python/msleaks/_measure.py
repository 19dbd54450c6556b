"""Measures the memory of a part of the program, by a report about the run so far. The tests and cells of the plug-ins are such parts."""
from __future__ import annotations

import gc
import itertools
import json
import os
import sys
from typing import Any, Dict, List, Optional

from ._collector import run_folder
from ._session import take_snapshot
from ._texts import mark
from ._tools import Tool

# Python keeps an arena of small objects after the objects have ended. Its size depends on the version.
_ARENA_BYTES = 1 << 20 if sys.version_info >= (3, 10) else 1 << 18
_SHOWN_PLACES = 3


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
        # Imports and the interpreter's own memory are not the user's.
        self.left = [row for row in report["leaks"]["by_site"] if row["own"] and not _is_arena(row)]
        self.left_bytes = sum(row["bytes"] for row in self.left)


def _is_arena(row: Dict[str, Any]) -> bool:
    return bool(row["heap"] == "mapping" and row["bytes"] == row["count"] * _ARENA_BYTES)


class Measurement:
    """Measures a part of the program between two marks, by a report about the run so far."""

    _numbers = itertools.count(1)

    def __init__(self) -> None:
        self._name = f"measured {os.getpid()} {next(self._numbers)}"
        mark(f"{self._name} begins")

    def end(self, tool: Optional[Tool] = None) -> Measured:
        gc.collect()  # cycles are no leaks
        mark(f"{self._name} ends")
        if not take_snapshot(f"{self._name} is over"):
            raise RuntimeError("msleaks-run does not answer")
        run = run_folder()
        if not run:
            raise RuntimeError("the folder of this run was not found")
        window = ["--from", f"mark:{self._name} begins", "--born-until", f"mark:{self._name} ends", "--to", f"mark:{self._name} is over"]
        return Measured(json.loads((tool or Tool()).output("report", run, "--json", "--pid", str(os.getpid()), *window)))


def lines_of_places(rows: List[Dict[str, Any]]) -> List[str]:
    """Returns a line for each of the places with the most bytes."""
    largest = sorted(rows, key=lambda row: -int(row["bytes"]))[:_SHOWN_PLACES]
    return [f"  {text_of(row['bytes'])} in {_blocks(row['count'])}: {_where(row['site'])}" for row in largest]


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count} blocks"


def _where(site: Dict[str, Any]) -> str:
    place = f"{site['file']}:{site['line']}" if site["file"] else str(site.get("library"))
    return f"{place} in {site['function']}" if site["function"] else place
