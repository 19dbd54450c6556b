"""Names the steps, marks, ranges and owners of a Python program in a recording by msleaks, and controls the recording.

Without msleaks-run no function has an effect, and `import msleaks` loads no large module. `read` and `compare` read recordings, also without
msleaks-run. docs/python-package.md describes the functions.
"""
from __future__ import annotations

from ._scopes import RecordFunction, describer, owner, range
from ._session import is_recording, start, stop, take_snapshot
from ._texts import mark, step
from ._watcher import watcher

TYPE_CHECKING = False  # a type checker takes this as true; the module `typing` is not imported at run time
if TYPE_CHECKING:
    from ._results import Comparison, Run, Table, ToolFailed, compare, read

_LATER = ("Comparison", "Run", "Table", "ToolFailed", "compare", "read")  # these names import `json` and `subprocess`

__all__ = [
    "Comparison",
    "RecordFunction",
    "Run",
    "Table",
    "ToolFailed",
    "compare",
    "describer",
    "is_recording",
    "mark",
    "owner",
    "range",
    "read",
    "start",
    "step",
    "stop",
    "take_snapshot",
    "watcher",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'msleaks' has no attribute '{name}'")
    from . import _results

    return getattr(_results, name)


def load_ipython_extension(shell: object) -> None:
    """IPython calls this function for `%load_ext msleaks`."""
    from ._ipython import register

    register(shell)
