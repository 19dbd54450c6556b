#!/usr/bin/env python3
"""Makes small Python objects for bench/run.py, and keeps few of them.

    objects.py COUNT

Makes COUNT records of a dict, a list, a tuple, a text and bytes, and keeps each hundredth record. Prints `record cpu X wall Y`:
the ns of a record.
"""
import sys
import time


def record(number):
    return {"name": f"record {number}", "values": [number, number + 0.5], "key": (number, "x"), "data": b"%d" % number}


def main():
    count = int(sys.argv[1])
    kept = []
    cpu, wall = time.thread_time(), time.perf_counter()
    for number in range(count):
        made = record(number)
        if number % 100 == 0:
            kept.append(made)
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    print(f"record cpu {cpu / count * 1e9:.1f} wall {wall / count * 1e9:.1f}")


if __name__ == "__main__":
    main()
