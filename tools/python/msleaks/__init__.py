"""Names the steps, marks, ranges and owners of a Python program in a recording by msleaks, and controls the recording.

Without msleaks-run no function has an effect, and `import msleaks` loads no module outside of this package. docs/python-package.md
describes the functions.
"""
from __future__ import annotations

from ._scopes import RecordFunction, describer, owner, range
from ._session import is_recording, start, stop, take_snapshot
from ._texts import mark, step
from ._watcher import watcher

__all__ = [
    "RecordFunction",
    "describer",
    "is_recording",
    "mark",
    "owner",
    "range",
    "start",
    "step",
    "stop",
    "take_snapshot",
    "watcher",
]
