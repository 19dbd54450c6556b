#!/usr/bin/env python3
"""Allocates memory at a depth of Python calls for bench/run.py.

    depth.py DEPTH LINES COUNT

Allocates and frees a block COUNT times, inside DEPTH calls of Python functions, from LINES different lines in turn. Prints
`pair cpu X wall Y`: the ns of an allocation and its free.
"""
import sys
import time


def lines_of(count):
    """Returns a function that allocates at `count` lines, one after the other."""
    text = "def allocate():\n" + "    bytearray(1000)\n" * count  # larger than the objects of Python's own allocator
    space = {}
    exec(compile(text, "lines", "exec"), space)  # noqa: S102
    return space["allocate"]


def inside(depth, allocate, turns):
    if depth > 0:
        return inside(depth - 1, allocate, turns)
    cpu, wall = time.thread_time(), time.perf_counter()
    for _ in range(turns):
        allocate()
    return time.thread_time() - cpu, time.perf_counter() - wall


def main():
    depth, lines, count = (int(word) for word in sys.argv[1:])
    allocate = lines_of(lines)
    inside(depth - 3, allocate, count // lines // 10 + 1)  # the first paths are new
    cpu, wall = (seconds / (count // lines * lines) * 1e9 for seconds in inside(depth - 3, allocate, count // lines))
    print(f"pair cpu {cpu:.1f} wall {wall:.1f}")


if __name__ == "__main__":
    main()
