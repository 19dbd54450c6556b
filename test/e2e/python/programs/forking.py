"""Forks in a thread while other threads run Python code and allocate. Each child keeps blocks, and forks a child that does so, too.

    forking.py CHILDREN
"""
import os
import sys
import threading

SIZE = 20000
blocks = []
is_over = False


def churn(depth):
    if depth:
        return churn(depth - 1)
    while not is_over:
        bytearray(SIZE + 1000)


def keep_in_child():
    blocks.append(bytearray(SIZE))


def keep_in_grandchild():
    blocks.append(bytearray(SIZE))


def run_child(function):
    child = os.fork()
    if child == 0:
        function()
        if function is keep_in_child:
            run_child(keep_in_grandchild)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        os._exit(1)


def fork_often():
    for _ in range(int(sys.argv[1])):
        run_child(keep_in_child)


threads = [threading.Thread(target=churn, args=(depth,)) for depth in (0, 10)]
forker = threading.Thread(target=fork_often)
for thread in (*threads, forker):
    thread.start()
forker.join()
is_over = True
for thread in threads:
    thread.join()
print("end", flush=True)
