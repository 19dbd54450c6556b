"""freed.py kept|trimmed: frees many small texts, and then works on for a while. At the end, a child prints how many bytes
malloc_trim(0) gives back.

    kept       some texts stay alive between the freed ones, so malloc keeps the memory
    trimmed    the program calls malloc_trim(0) itself
"""
import ctypes
import os
import resource
import sys
import time

malloc_trim = ctypes.CDLL(None).malloc_trim


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def load():
    return [b"%08d" % number * 400 for number in range(30000)]  # guilty


def print_trimmed():
    child = os.fork()
    if child == 0:
        before = resident_bytes()
        malloc_trim(0)
        print(before - resident_bytes(), flush=True)
        os._exit(0)
    return os.waitpid(child, 0)[1]


begin = time.monotonic()
records = load()
records = records[::40]
if sys.argv[1] == "trimmed":
    malloc_trim(0)
end = time.monotonic() + 3 * (time.monotonic() - begin) + 2
while time.monotonic() < end:
    time.sleep(0.01)
sys.exit(print_trimmed())
