"""Threads keep blocks without any call of this file, after a fork, and after other threads have started them."""
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

SIZE, GENERATIONS = int(sys.argv[1]), int(sys.argv[2])
kept = []


def keep_in_pool():
    with ThreadPoolExecutor(1) as pool:
        kept.extend(pool.map(bytearray, [SIZE] * 3))


def keep_after(generations):
    kept.append(bytearray(2 * SIZE))
    if generations:
        thread = threading.Thread(target=keep_after, args=(generations - 1,))
        thread.start()
        thread.join()


def keep_in_child():
    child = os.fork()
    if child == 0:
        kept.append(bytearray(3 * SIZE))
        keep_after(GENERATIONS)
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)


def keep_in_chain():
    keep_after(GENERATIONS)


keep_in_pool()
keep_in_chain()
thread = threading.Thread(target=keep_in_child)
thread.start()
thread.join()
print("end", flush=True)
os.kill(os.getpid(), 9)  # with an end, Python would free the blocks
