"""The functions of msleaks' runtime in this process (msleaks/api.h). Without msleaks-run there is no runtime, and they do nothing."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional, Tuple

SESSION = os.environ.get("MSLEAKS_SESSION", "")  # the directory of the session's shared memory


def _nothing(*_: object) -> int:
    return 0


class Runtime:
    """Each attribute is a function of the runtime, or does nothing. `loaded`: whether this process has the runtime."""

    step: Callable[[int], Any]
    mark: Callable[[Optional[bytes]], Any]
    range_push: Callable[[Optional[bytes]], Any]
    range_pop: Callable[[], Any]
    range_start: Callable[[Optional[bytes]], int]
    range_end: Callable[[int], Any]
    owner_push: Callable[[Optional[bytes]], Any]
    owner_pop: Callable[[], Any]
    own: Callable[[int, Optional[bytes]], Any]
    watch: Callable[[int, int, Optional[bytes]], Any]
    unwatch: Callable[[int], Any]
    is_recording: Callable[[], int]

    def __init__(self, session: str) -> None:
        self.loaded = bool(session) and self._find()
        for name in Runtime.__annotations__:
            if name not in self.__dict__:
                setattr(self, name, _nothing)

    def _find(self) -> bool:
        """Sets the functions that the process has. An older runtime may lack some of them."""
        try:
            import ctypes
        except ImportError:  # a Python that was built without libffi
            return False
        text, number, address = ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p
        # PyDLL keeps the interpreter's lock, as an allocation does. To give the lock away here would let other threads
        # run, and so change the order in which the program's threads run.
        process = ctypes.PyDLL(None)
        found = False
        # A text has no declared type: the check of a declared type needs a level of recursion, and replaces a RecursionError.
        signatures: List[Tuple[str, Any, Optional[List[Any]]]] = [
            ("step", None, [number]),
            ("mark", None, None),
            ("range_push", None, None),
            ("range_pop", None, []),
            ("range_start", number, None),
            ("range_end", None, [number]),
            ("owner_push", None, None),
            ("owner_pop", None, []),
            ("own", None, [address, text]),
            ("watch", None, [address, ctypes.c_size_t, text]),
            ("unwatch", None, [address]),
            ("is_recording", ctypes.c_int, []),
        ]
        for name, result, arguments in signatures:
            try:
                function = process["__msl_" + name]
            except AttributeError:
                continue
            function.restype = result
            if arguments is not None:
                function.argtypes = arguments
            setattr(self, name, function)
            found = True
        return found


runtime = Runtime(SESSION)


def encoded(text: str) -> bytes:
    """Returns the text as the runtime stores it. Wrong types are refused with and without msleaks-run, in the same way."""
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {type(text).__name__}")
    return text.encode("utf-8", "replace")
