"""Names parts of the program by the package msleaks. Each allocation has a size of its own, which the test finds in the recording.

    names.py TOPIC
"""
import asyncio
import sys
import threading

import msleaks

kept = []


def allocate(size):
    kept.append(bytearray(size))


def texts():
    msleaks.step()
    msleaks.step(7)
    msleaks.step()
    msleaks.mark("loaded é")
    with msleaks.range("outer"):
        with msleaks.RecordFunction("inner"):
            msleaks.mark("within")
    with msleaks.owner("model@layer"):
        msleaks.mark("owned")


def owners():
    function_owner = msleaks.owner("function")

    @function_owner
    def function():
        allocate(1_000_000)

    @msleaks.owner("generator")
    def generator():
        allocate(1_000_001)
        received = yield 1
        allocate(1_000_002)
        return received

    @msleaks.owner("coroutine")
    async def coroutine():
        allocate(1_000_003)
        await asyncio.sleep(0)
        allocate(1_000_004)

    @msleaks.owner("items")
    async def items():
        allocate(1_000_005)
        await asyncio.sleep(0)
        allocate(1_000_006)
        yield 1
        allocate(1_000_007)

    async def other():
        for size in range(1_100_000, 1_100_006):
            allocate(size)
            await asyncio.sleep(0)

    async def use():
        async for _ in items():
            allocate(1_100_006)

    async def together():
        await asyncio.gather(coroutine(), other(), use())

    function()
    run = generator()
    next(run)
    allocate(1_100_007)
    try:
        run.send(1)
    except StopIteration:
        pass
    asyncio.run(together())
    with function_owner:
        with function_owner:
            allocate(1_000_008)
        allocate(1_000_009)
    allocate(1_100_008)


def describers():
    with msleaks.describer(owner="train"):
        allocate(1_000_000)
        with msleaks.describer("encoder"):
            allocate(1_000_001)
            deep = [msleaks.describer(f"d{depth}") for depth in range(20)]
            for describer in deep:
                describer.__enter__()
            allocate(1_000_002)
            for describer in deep:
                describer.__exit__()
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
        allocate(1_000_003)


@msleaks.describer(owner="other")
def in_thread():
    allocate(1_000_004)


def described_blocks():
    blocks = [bytearray(1_000_000 + number) for number in range(4)]
    msleaks.describer(blocks[0], owner="cache")
    with msleaks.describer(owner="train"):
        msleaks.describer(memoryview(blocks[1])[5000::3], "batch")
        msleaks.describer(blocks[2], owner="first")
    msleaks.describer(blocks[2], owner="second")
    msleaks.describer(bytearray(), owner="nothing")
    for wrong in ((), (blocks[3], 5), (3, "number")):
        try:
            msleaks.describer(*wrong)
        except TypeError as error:
            print(error)
    kept.extend(blocks)


def spans():
    """Each range begins and ends once, although coroutines and generators stop within it."""

    @msleaks.range("coroutine")
    async def coroutine(begun, go):
        begun.set()
        await go.wait()

    async def block(begun, go):
        async with msleaks.range("block"):
            begun.set()
            await go.wait()

    async def together():
        first, second, go_first, go_second = (asyncio.Event() for _ in range(4))
        one = asyncio.ensure_future(coroutine(first, go_first))
        await first.wait()
        two = asyncio.ensure_future(block(second, go_second))
        await second.wait()
        go_first.set()
        await one
        msleaks.mark("one has ended")
        go_second.set()
        await two

    asyncio.run(together())

    @msleaks.range("generator")
    def generator():
        yield
        yield

    run = generator()
    next(run)
    msleaks.mark("in the generator")
    run.close()


def switches():
    """Records nothing while the session is stopped. Several threads start and stop the session at the same time."""
    assert msleaks.is_recording()
    allocate(1_000_000)
    assert msleaks.stop() and not msleaks.is_recording()
    allocate(1_100_000)
    assert msleaks.start() and msleaks.is_recording()
    allocate(1_000_001)
    results = []

    def switch():
        for _ in range(10):
            results.append(msleaks.stop())
            results.append(msleaks.start())

    threads = [threading.Thread(target=switch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160, results
    assert msleaks.start() and msleaks.is_recording()
    allocate(1_000_002)


class Tensor:
    """Has the methods of a PyTorch tensor by which the watcher finds the memory."""

    def __init__(self, view, step=1):
        self.view, self.step = view, step

    def data_ptr(self):
        import ctypes

        return ctypes.addressof(ctypes.c_char.from_buffer(self.view))

    def numel(self):
        return len(self.view) // 4

    def element_size(self):
        return 4

    def is_contiguous(self):
        return self.step == 1


def watches():
    block, read_only, other, tensor = bytearray(4000), bytes(3000), bytearray(2000), Tensor(bytearray(1000))
    msleaks.watcher.watch(block, "block")
    msleaks.watcher.watch(read_only, "read-only")
    msleaks.watcher.watch(memoryview(other), "part", length=100)
    msleaks.watcher.watch(tensor, "tensor")
    with msleaks.range("first"):
        block[5] = 1
        other[150] = 1
        tensor.view[8:10] = b"xy"
    msleaks.watcher.remove(block)
    msleaks.watcher.remove(tensor)
    with msleaks.range("second"):
        block[6] = 1
        other[50] = 1
    msleaks.watcher.watch(tensor.data_ptr(), "address", length=1000)
    with msleaks.range("third"):
        tensor.view[0] = 1
    msleaks.watcher.remove(tensor.data_ptr())
    for watched in read_only, memoryview(other):
        msleaks.watcher.remove(watched)


def snapshots():
    allocate(1_000_000)
    print(msleaks.take_snapshot("here", reach=True), flush=True)
    sys.stdin.readline()
    print(msleaks.take_snapshot("after"), flush=True)


globals()[sys.argv[1]]()
