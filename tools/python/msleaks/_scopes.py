"""Ranges and owners: context managers that are also decorators."""
from __future__ import annotations

from ._blocks import extent_of
from ._runtime import encoded, runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import local
    from typing import Any, Callable, TypeVar, overload

    Function = TypeVar("Function", bound=Callable[..., Any])
else:
    from _thread import _local as local  # the same class, without the import of `threading`


def _check(function: Any) -> None:
    """Refuses what a decorator would change into something else: a class, a property, or another object that can be called."""
    if isinstance(function, type) or not callable(function) or not hasattr(function, "__name__"):
        raise TypeError(f"a function is needed, not {type(function).__name__}: decorate the function inside, or use `with`")


class _Scope:
    """A named part of the program: the body of a `with`, or each call of a decorated function."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = encoded(text)

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    def __call__(self, function: Function) -> Function:
        if isinstance(function, (staticmethod, classmethod)):
            inside: Any = self(function.__func__)
            kind: Any = type(function)
            rewrapped: Function = function if inside is function.__func__ else kind(inside)
            return rewrapped
        _check(function)
        if not runtime.loaded:
            return function
        from ._wrappers import wrapped

        return wrapped(function, self, self._whole, self._turn)

    # A coroutine or generator runs in several turns, and other code runs between them. `_whole` is a context manager for
    # the time from the first to the last turn, and `_turn` is one for each turn.
    def _whole(self) -> Any:
        raise NotImplementedError

    def _turn(self) -> Any:
        raise NotImplementedError


class _Nothing:
    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class _Span:
    """A range that any thread may end. It need not end before the ranges that begin after it."""

    __slots__ = ("_text", "_id")

    def __init__(self, text: bytes) -> None:
        self._text = text

    def __enter__(self) -> None:
        self._id = runtime.range_start(self._text)

    def __exit__(self, *_: object) -> None:
        runtime.range_end(self._id)


class range(_Scope):
    """A range of this thread, such as "forward". `async with` may contain an `await`, and so may a decorated function."""

    __slots__ = ("_spans",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._spans: list[_Span] = []

    def __enter__(self) -> None:
        runtime.range_push(self._text)

    def __exit__(self, *_: object) -> None:
        runtime.range_pop()

    async def __aenter__(self) -> None:
        span = _Span(self._text)
        span.__enter__()
        self._spans.append(span)

    async def __aexit__(self, *_: object) -> None:
        self._spans.pop().__exit__()

    def _whole(self) -> _Span:
        return _Span(self._text)

    def _turn(self) -> _Nothing:
        return _Nothing()


class RecordFunction(range):
    """A range, under the name that msMemScope uses."""

    __slots__ = ()


class owner(_Scope):
    """From now on, allocations of this thread belong to this owner, such as "model@encoder". The innermost owner counts."""

    __slots__ = ()

    def __enter__(self) -> None:
        runtime.owner_push(self._text)

    def __exit__(self, *_: object) -> None:
        runtime.owner_pop()

    def _whole(self) -> _Nothing:
        return _Nothing()

    def _turn(self) -> owner:
        return self


class _Names(local):
    """The open describers of this thread, each with the names of those around it."""

    def __init__(self) -> None:
        self.open: list[bytes] = []


_names = _Names()


class describer(owner):
    """An owner, under the name that msMemScope uses: `describer(owner="encoder")`. A describer within another one names both.

    `describer(block, owner="kv-cache")` names the owner of a tensor, an array or a buffer that exists already. The memory that
    contains the block belongs to this owner, also if other tensors share the memory."""

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __init__(self, owner: str, /) -> None: ...
        @overload
        def __init__(self, *, owner: str) -> None: ...
        @overload
        def __init__(self, block: Any, owner: str) -> None: ...

    def __init__(self, block: Any = None, owner: Any = None) -> None:
        if owner is None:
            block, owner = None, block
        super().__init__(owner)
        if block is not None and (address := extent_of(block)[0]) != 0:
            runtime.own(address, self._name())

    def _name(self) -> bytes:
        outer = _names.open
        return outer[-1] + b"@" + self._text if outer else self._text

    def __enter__(self) -> None:
        _names.open.append(self._name())
        runtime.owner_push(_names.open[-1])

    def __exit__(self, *_: object) -> None:
        runtime.owner_pop()
        if _names.open:  # it is empty if another thread entered this describer, such as in a generator
            _names.open.pop()
