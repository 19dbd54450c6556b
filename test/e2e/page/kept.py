"""Keeps 1 MiB in each step, in blocks of an owner with a strange name. Sometimes it also needs memory for a short time.

    kept.py OWNER [--fixed]
"""
import sys

import msleaks

OWNER = sys.argv[1]
FIXED = "--fixed" in sys.argv[2:]
STEPS = 30
kept = []


def answer(step):
    with msleaks.range("answer"), msleaks.owner(OWNER):
        kept.append(bytearray(1 << 20))  # kept here
        if FIXED:
            kept.clear()
    if step % 10 == 0:
        bytearray(4 << 20)


for step in range(1, STEPS + 1):
    msleaks.step(step)
    answer(step)
print("end")
