"""Allocates 64 MiB when the first of its files exists, and 96 MiB more when the second does. Ends when the third exists."""
import sys
import time
from pathlib import Path

kept = []


def wait_for(path):
    while not Path(path).exists():
        time.sleep(0.01)


for path, size in zip(sys.argv[1:], (64 << 20, 96 << 20)):
    wait_for(path)
    kept.append(bytearray(size))  # growing
wait_for(sys.argv[3])
