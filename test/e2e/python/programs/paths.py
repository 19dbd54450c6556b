"""Allocates blocks on many paths of Python code, and keeps them. Prints for each path, as sys._getframe shows it, the
number of its blocks. Each block has SIZE bytes.

Each line that allocates calls `keep` with its own frame. No other line allocates such blocks.

    paths.py SEED BLOCKS [LIBRARY]      loads the library, which interrupts the program (interrupt.c)
"""
import asyncio
import collections
import contextlib
import functools
import json
import os
import random
import sys
import threading

SIZE = 20000
blocks = []
paths = collections.Counter()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def path_to(frame):
    path = []
    while frame:
        path.append((frame.f_code.co_filename, frame.f_lineno, name_of(frame.f_code)))
        frame = frame.f_back
    return path


def keep(block, frame):
    blocks.append(block)
    is_main = threading.current_thread() is threading.main_thread()
    paths[tuple(path_to(frame) + ([] if is_main else starter))] += 1


def note_starter(frame):
    global starter
    starter = path_to(frame)


def noting_starter(start):
    return lambda *arguments, **named: (note_starter(sys._getframe()), start(*arguments, **named))[1]


for name in ("_start_new_thread", "_start_joinable_thread"):
    if hasattr(threading, name):
        setattr(threading, name, noting_starter(getattr(threading, name)))


def function(depth):
    keep(bytearray(SIZE), sys._getframe())
    wander(depth)


def numbers(depth):
    yield keep(bytearray(SIZE), sys._getframe())
    yield wander(depth)


def generator(depth):
    for _ in numbers(depth):
        pass


def comprehension(depth):
    return [(keep(bytearray(SIZE), sys._getframe()), wander(depth)) for _ in range(1)]


def called_by_c(depth):
    sorted([depth, depth - 1], key=lambda number: (keep(bytearray(SIZE), sys._getframe()), number)[1])
    list(map(wander, [depth]))
    functools.reduce(lambda _, each: wander(each), [depth, depth])


class Thing:
    def __init__(self, depth):
        self.depth = depth
        keep(bytearray(SIZE), sys._getframe())

    def __getattr__(self, name):
        keep(bytearray(SIZE), sys._getframe())
        return lambda: wander(self.depth)

    def __enter__(self):
        keep(bytearray(SIZE), sys._getframe())

    def __exit__(self, *error):
        keep(bytearray(SIZE), sys._getframe())
        return True


def methods(depth):
    Thing(depth).missing()
    with Thing(depth):
        raise ValueError


def handlers(depth):
    try:
        raise KeyError
    except KeyError:
        keep(bytearray(SIZE), sys._getframe())
    finally:
        wander(depth)


def executed(depth):
    text = "\n" * random.randrange(400) + "keep(bytearray(SIZE), sys._getframe()); wander(depth)"
    # Python uses the addresses of deleted code again: here, and when cells of a notebook or modules run.
    name = random.choice([f"<executed {depth}>", f"/cells/{depth}.py"])
    exec(compile(text, name, "exec"), {**globals(), "depth": depth})


@contextlib.contextmanager
def decorated(depth):
    keep(bytearray(SIZE), sys._getframe())
    yield
    wander(depth)


def managed(depth):
    with decorated(depth):
        keep(bytearray(SIZE), sys._getframe())


async def inner(depth):
    await asyncio.sleep(0)
    keep(bytearray(SIZE), sys._getframe())


async def outer(depth):
    await asyncio.gather(inner(depth), inner(depth))
    keep(bytearray(SIZE), sys._getframe())


def recursive(depth, left=30):
    if left == 0:
        keep(bytearray(SIZE), sys._getframe())
    else:
        recursive(depth, left - 1)


KINDS = [function, generator, comprehension, called_by_c, methods, handlers, executed, managed, recursive]


def wander(depth):
    if depth > 0 and len(blocks) < LIMIT:
        for kind in random.sample(KINDS, 2):
            kind(depth - 1)


def in_thread():
    wander(3)


if len(sys.argv) > 3:
    import ctypes
    library = ctypes.CDLL(sys.argv[3])
random.seed(int(sys.argv[1]))
LIMIT = int(sys.argv[2])
while len(blocks) < LIMIT:
    wander(5)
    asyncio.run(outer(1))
    # One thread at a time: the generator of random numbers is shared.
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
if len(sys.argv) > 3:
    library.endInterruptions()  # Python itself loses a part of a large text that it prints while signals arrive
    print(library.interruptionsOfPython(), library.otherInterruptions(), file=sys.stderr)
print(json.dumps([[list(map(list, path)), count] for path, count in paths.items()]), flush=True)
os._exit(0)  # the blocks are alive at the end
