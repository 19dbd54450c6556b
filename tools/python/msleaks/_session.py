"""Controls the recording of this process's session, as `msleaks ctl RUN` does (docs/running.md)."""
from __future__ import annotations

import os

from ._runtime import SESSION, encoded, runtime

_ANSWER_BYTES, _ANSWER_SECONDS = 65536, 60


def _ask(request: str) -> bool:
    """Sends a request to the collector. Returns whether the collector has done it. Any thread may call this function."""
    if not runtime.loaded:
        return False
    import socket

    try:
        # The path of a socket has at most 108 bytes. Through the descriptor of its folder, every path is short.
        folder = os.open(SESSION, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                connection.settimeout(_ANSWER_SECONDS)
                connection.connect(f"/proc/self/fd/{folder}/ctl")
                connection.sendall(request.encode())
                return connection.recv(_ANSWER_BYTES)[:1] == b"0"
        finally:
            os.close(folder)
    except OSError:  # msleaks-run was killed
        return False


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
