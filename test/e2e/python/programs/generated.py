"""Runs code that is generated. Each piece has its own function `made_NUMBER`, which keeps one block. The pieces have few addresses.

    generated.py COUNT
"""
import os
import sys

SIZE = 600
blocks = []


def keep():
    blocks.append(bytearray(SIZE))


for number in range(int(sys.argv[1])):
    exec(compile(f"def made_{number}():\n    keep()\nmade_{number}()\n", "<generated>", "exec"), {"keep": keep})
os._exit(0)  # the blocks are alive at the end
