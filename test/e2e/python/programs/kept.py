"""Keeps blocks of known sizes, in three steps.

    kept.py COUNT     how many blocks of 2,000,000 bytes each step keeps
"""
import os
import sys

import msleaks

kept = []


def remember(count):
    for _ in range(count):
        kept.append(bytearray(2_000_000))  # the line that keeps


def work():
    bytearray(30_000_000)  # the line that frees


for number in range(5, 8):
    msleaks.step(number)
    with msleaks.owner("mine@cache"):
        remember(int(sys.argv[1]))
    work()
msleaks.mark("done")
sys.stdout.flush()
os._exit(0)  # Python must not free the blocks
