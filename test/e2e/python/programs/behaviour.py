"""Prints how functions, generators and coroutines behave, with and without the decorators of the package msleaks.

    behaviour.py plain|decorated
"""
import asyncio
import gc
import inspect
import sys
import weakref

import msleaks

decorators = {
    "plain": [lambda function: function],
    "decorated": [msleaks.range("r"), msleaks.owner("o"), msleaks.describer(owner="d"), lambda function: msleaks.range("r")(msleaks.owner("o")(function))],
}[sys.argv[1]]


class Error(Exception):
    pass


class Big:
    """An object that a weak reference can follow."""


def functions(decorate):
    @decorate
    def add(one, two=2, *more, **named):
        """Adds."""
        if one is None:
            raise Error("none")
        return one + two, more, named

    yield add.__name__, add.__doc__, str(inspect.signature(add))
    yield add(1), add(1, 3, 4, five=5)
    try:
        add(None)
    except Error as error:
        yield str(error)

    class Owner:
        @decorate
        def method(self):
            return type(self).__name__

        @classmethod
        @decorate
        def of_class(cls):
            return cls.__name__

    yield Owner().method(), Owner.of_class()


def generators(decorate):
    log = []

    @decorate
    def count(limit):
        try:
            for number in range(limit):
                try:
                    log.append((yield number))
                except Error as error:
                    log.append(str(error))
            return "end"
        finally:
            log.append("closed")

    yield inspect.isgeneratorfunction(count), list(count(3))
    run = count(5)
    yield next(run), run.send("sent"), run.throw(Error("thrown"))
    run.close()
    run = count(1)
    next(run)
    try:
        next(run)
    except StopIteration as end:
        yield end.value
    run = count(2)
    next(run)
    try:
        run.throw(KeyError("not caught"))
    except KeyError as error:
        yield repr(error)
    run = count(2)
    next(run)
    del run
    yield log

    def delegating():
        result = yield from count(2)
        yield result

    yield list(delegating())


def coroutines(decorate):
    log = []

    @decorate
    async def wait(seconds, result):
        try:
            await asyncio.sleep(seconds)
            if result is None:
                raise Error("none")
            return result
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    async def use():
        results = [await wait(0, 1), await asyncio.gather(wait(0, 2), wait(0, None), return_exceptions=True)]
        task = asyncio.ensure_future(wait(1000, 3))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            results.append("cancelled outside")
        try:
            await asyncio.wait_for(wait(1000, 4), 0.001)
        except asyncio.TimeoutError:
            results.append("timeout")
        return results

    yield inspect.iscoroutinefunction(wait), repr(asyncio.run(use())), log


def async_generators(decorate):
    log = []

    @decorate
    async def count(limit):
        try:
            for number in range(limit):
                await asyncio.sleep(0)
                try:
                    log.append((yield number))
                except Error as error:
                    log.append(str(error))
        finally:
            await asyncio.sleep(0)
            log.append("closed")

    async def use():
        results = [[item async for item in count(3)]]
        run = count(5)
        results.append([await run.__anext__(), await run.asend("sent"), await run.athrow(Error("thrown"))])
        await run.aclose()
        run = count(2)
        await run.__anext__()
        try:
            await run.athrow(KeyError("not caught"))
        except KeyError as error:
            results.append(repr(error))
        return results

    yield inspect.isasyncgenfunction(count), asyncio.run(use()), log


def cycles(decorate):
    """An exception that a generator catches or lets pass must not keep the objects of its frames alive."""

    @decorate
    def count(caught):
        while True:
            try:
                yield 1
            except Error:
                if not caught:
                    raise

    gc.disable()
    for caught in (True, False):
        big = Big()
        followed = weakref.ref(big)

        def use(kept):
            run = count(caught)
            next(run)
            try:
                run.throw(Error("thrown"))
            except Error:
                pass

        use(big)
        del big
        yield followed() is None
    gc.enable()


seen = []
for decorate in decorators:
    seen.append([list(topic(decorate)) for topic in (functions, generators, coroutines, async_generators, cycles)])
assert all(one == seen[0] for one in seen), seen
print(*seen[0], sep="\n")
