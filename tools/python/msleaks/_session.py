"""Controls the recording of this process's session, as `msleaks ctl RUN` does (docs/running.md)."""
from __future__ import annotations

from ._runtime import encoded, runtime


def _ask(request: str) -> bool:
    if not runtime.loaded:
        return False
    try:
        from ._collector import ask
    except ImportError:  # the interpreter ends
        return False

    return ask(request)


def start() -> bool:
    """Starts the recording of the session, in all of its processes. Returns whether the session records now."""
    return _ask("start")


def stop() -> bool:
    """Stops the recording of the session, in all of its processes. Returns whether the recording was stopped."""
    return _ask("stop")


def is_recording() -> bool:
    """Whether the session records now. Without msleaks-run it does not."""
    return bool(runtime.is_recording())


def take_snapshot(name: str, *, reach: bool = False) -> bool:
    """Sets a mark with this name, and writes all events so far into the run folder.

    After that, `msleaks report RUN --at mark:NAME` shows what was alive here, also while the program runs. With `reach`, the
    processes of the session are stopped for a moment, to find the pointers to each block. Returns whether all this was done.
    """
    runtime.mark(encoded(name))
    return _ask("snapshot") and (not reach or _ask("reach"))
