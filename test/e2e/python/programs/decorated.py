"""Decorates objects that are not plain functions, and prints what happens. The output does not depend on msleaks-run."""
import asyncio
import functools
import sys
import threading
import types

import msleaks


def attempt(action):
    try:
        print(action())
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)


class Methods:
    @msleaks.range("x")
    @staticmethod
    def of_none(value):
        return value

    @msleaks.owner("x")
    @classmethod
    def of_class(cls):
        return cls.__name__


@msleaks.range("x")
@types.coroutine
def old_coroutine():
    yield
    return 4


async def awaits():
    return await old_coroutine()


@msleaks.owner("x")
async def count():
    try:
        for number in range(10):
            await asyncio.sleep(0)
            yield number
    finally:
        await asyncio.sleep(0)
        print("closed")


kept = []


async def first():
    kept.append(count())
    return await kept[0].__anext__()


def describes():
    with msleaks.describer(owner="d"):
        yield


def closed_by_another_thread():
    run = describes()
    next(run)
    thread = threading.Thread(target=run.close)
    thread.start()
    thread.join()
    with msleaks.describer(owner="d"):
        pass


def errors_of_recursion():
    """Returns the names of the exceptions at different distances from the recursion limit."""
    def ranges():
        with msleaks.range("x"):
            ranges()

    def marks():
        msleaks.mark("x")
        marks()

    @msleaks.owner("x")
    def owners():
        owners()

    names = set()
    for recursion in ranges, marks, owners:
        for extra in range(20):
            sys.setrecursionlimit(200 + extra)
            try:
                recursion()
            except Exception as error:
                names.add(type(error).__name__)
    sys.setrecursionlimit(1000)
    return names


class Last:
    """Python deletes this object when an import is no longer possible."""

    def __del__(self, msleaks=msleaks):
        print(msleaks.take_snapshot("x"), msleaks.start(), flush=True)


attempt(lambda: (Methods.of_none(1), Methods().of_none(2), Methods.of_class(), Methods().of_class()))
attempt(lambda: msleaks.range("x")(Methods))
attempt(lambda: msleaks.range("x")(property(len)))
attempt(lambda: msleaks.range("x")(functools.partial(len)))
attempt(lambda: asyncio.run(awaits()))
attempt(lambda: asyncio.run(first()))
attempt(closed_by_another_thread)
attempt(errors_of_recursion)
for length in -1, 0, 1.5, "abc":
    attempt(lambda: msleaks.watcher.watch(bytearray(100), "x", length=length))
    attempt(lambda: msleaks.watcher.watch(4096, "x", length=length))
last = Last()
