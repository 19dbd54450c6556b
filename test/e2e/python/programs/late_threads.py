"""Ends while daemon threads call C code that allocates. Python frees the states of these threads meanwhile."""
import ctypes
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])


def call(depth):
    return call(depth - 1) if depth else library.allocate()


class Late:
    def __del__(self):
        time.sleep(0.2)


for _ in range(3):
    threading.Thread(target=call, args=(20,), daemon=True).start()
time.sleep(0.1)
sys.late = Late()
print("end")
