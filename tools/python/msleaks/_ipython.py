"""The cell magic %%msleaks of IPython and Jupyter: prints how much memory a cell needs and leaves."""
from __future__ import annotations

import sys
from typing import Any, List

from ._measure import Measurement, lines_of_places, text_of
from ._runtime import runtime
from ._scopes import range
from ._tools import ToolFailed

HINT = "msleaks: nothing is measured; start the notebook under msleaks: python3 -m msleaks run -m jupyter lab"


class CellFailed(Exception):
    """Tells IPython that the cell failed. IPython has shown the cell's own exception, so this one is not shown."""

    def _render_traceback_(self) -> List[str]:
        return []


def _run(shell: Any, cell: str) -> None:
    if not shell.run_cell(cell).success:
        raise CellFailed("the cell raised an exception")


def register(shell: Any) -> None:
    def msleaks(line: str, cell: str) -> None:
        """Runs the cell, and prints the memory that it needs and leaves. `line`: the name of the cell in the recording."""
        if not runtime.loaded:
            print(HINT, file=sys.stderr)
            _run(shell, cell)
            return
        measurement = Measurement()
        with range(line or "cell"):
            _run(shell, cell)  # an exception keeps the cell's objects alive, so they are not measured
        try:
            measured = measurement.end()
        except (RuntimeError, ToolFailed) as error:
            print(f"msleaks: the cell could not be measured: {error}", file=sys.stderr)
            return
        print(f"msleaks: the cell needs {text_of(measured.peak_bytes)}, and leaves {text_of(measured.left_bytes)}")
        for place in lines_of_places(measured.left):
            print(place)

    shell.register_magic_function(msleaks, "cell", "msleaks")
