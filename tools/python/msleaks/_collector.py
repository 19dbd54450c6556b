"""The connection to the collector of this process's session (analysis/collect/control_socket.h)."""
from __future__ import annotations

import json
import os
import socket
import struct
from contextlib import contextmanager, suppress
from typing import Iterator

from ._runtime import SESSION

_ANSWER_BYTES, _ANSWER_SECONDS = 65536, 60


@contextmanager
def _collector() -> Iterator[socket.socket]:
    """A connection to the collector. An OSError: msleaks-run was killed."""
    # The path of a socket has at most 108 bytes. Through the descriptor of its folder, every path is short.
    folder = os.open(SESSION, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(_ANSWER_SECONDS)
            connection.connect(f"/proc/self/fd/{folder}/ctl")
            yield connection
    finally:
        os.close(folder)


def ask(request: str) -> bool:
    """Sends a request to the collector. Returns whether the collector has done it. Any thread may call this function."""
    try:
        with _collector() as connection:
            connection.sendall(request.encode())
            return connection.recv(_ANSWER_BYTES)[:1] == b"0"
    except OSError:
        return False


def run_folder() -> str:
    """Returns the run folder of this session, or an empty text. The collector has the trace in this folder open."""
    try:
        with _collector() as connection:
            pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
        files = [f"/proc/{pid}/fd/{descriptor}" for descriptor in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return ""
    for file in files:
        with suppress(OSError):  # the collector may have closed the file meanwhile
            folder, name = os.path.split(os.readlink(file))
            if name == "trace.mslt" and _is_of_this_session(folder):
                return folder
    return ""


def _is_of_this_session(folder: str) -> bool:
    with open(os.path.join(folder, "manifest.json"), "rb") as file:
        session = json.load(file)["session_dir"]
    return isinstance(session, str) and os.path.samefile(session, SESSION)
