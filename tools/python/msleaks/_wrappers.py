"""Wraps functions, coroutines and generators for the decorators of _scopes.py."""
from __future__ import annotations

import functools
import sys
import types
from typing import Any, Callable, ContextManager, Generator, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
MakeScope = Callable[[], ContextManager[Any]]

# Flags of a code object. The module `inspect` has names for them, but its import takes ten times as long as this one.
_GENERATOR, _COROUTINE, _ITERABLE_COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200


def _turns(body: Any, turn: MakeScope) -> Generator[Any, Any, Any]:
    """Runs a generator or coroutine like `yield from`, with each of its turns inside the context manager `turn`."""
    resume, value = body.send, None
    while True:
        try:
            with turn():
                yielded = resume(value)
        except StopIteration as end:
            return end.value
        finally:
            value = None  # an exception here would keep this frame alive, and the frame would keep the exception
        try:
            value = yield yielded
            resume = body.send
        except GeneratorExit:
            with turn():
                body.close()
            raise
        except BaseException as error:
            resume, value = body.throw, error


class _Turns:
    """The turns of a coroutine, for `await`."""

    def __init__(self, body: Any, turn: MakeScope) -> None:
        self._body, self._turn = body, turn

    def __await__(self) -> Generator[Any, Any, Any]:
        return _turns(self._body, self._turn)


def _first_turn(body: Any, value: Any) -> Any:
    """Returns the first turn of an asynchronous generator, which the event loop does not get to know.

    The loop closes the generator around this one. If it knew both, it would close both at the same time.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return body.asend(value)
    finally:
        sys.set_asyncgen_hooks(*hooks)


def wrapped(function: Function, call: ContextManager[Any], whole: MakeScope, turn: MakeScope) -> Function:
    """Returns the function with each call inside `call`. For coroutines and generators, see _Scope."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)

    @functools.wraps(function)
    def plain(*arguments: Any, **named: Any) -> Any:
        with call:
            return function(*arguments, **named)

    @functools.wraps(function)
    async def coroutine(*arguments: Any, **named: Any) -> Any:
        with whole():
            return await _Turns(function(*arguments, **named), turn)

    @functools.wraps(function)
    def generator(*arguments: Any, **named: Any) -> Any:
        with whole():
            return (yield from _turns(function(*arguments, **named), turn))

    @functools.wraps(function)
    async def async_generator(*arguments: Any, **named: Any) -> Any:
        with whole():
            body = function(*arguments, **named)
            resume: Any = functools.partial(_first_turn, body)
            value = None
            while True:
                try:
                    yielded = await _Turns(resume(value), turn)
                except StopAsyncIteration:
                    return
                finally:
                    value = None
                try:
                    value = yield yielded
                    resume = body.asend
                except GeneratorExit:
                    await _Turns(body.aclose(), turn)
                    raise
                except BaseException as error:
                    resume, value = body.athrow, error

    chosen: Any = plain
    for flag, other in ((_GENERATOR, generator), (_COROUTINE, coroutine), (_ASYNC_GENERATOR, async_generator)):
        if flags & flag:
            chosen = other
    if flags & _ITERABLE_COROUTINE:
        chosen = types.coroutine(chosen)
    return cast(Function, chosen)
