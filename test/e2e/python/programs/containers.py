"""Keeps objects in containers that the code reaches in different ways. Another thread changes containers all the time.

    containers.py STEPS
"""
import collections
import functools
import sys
import threading

import msleaks

STEPS = int(sys.argv[1])
changing, is_over = {"list": [], "dict": {}}, False


def change():
    """Makes and deletes items, so that a reader of the containers finds them in each state."""
    while not is_over:
        changing["list"] = [bytearray(10) for _ in range(100)]
        changing["dict"] = {str(number): [number] for number in range(100)}
        changing.pop("other", None)
        changing["other"] = collections.deque(range(1000))


class Trainer:
    shared = []

    def __init__(self):
        self.history = {"loss": [], "accuracy": []}
        self.cache = {}
        self.seen = set()
        self.last = collections.deque()
        self.limited = collections.deque(maxlen=4)

    @functools.lru_cache(maxsize=None)
    def result(self, number):
        return bytearray(number)

    @functools.lru_cache(maxsize=1000)
    def bounded(self, number):
        return (number,)

    def step(self, number):
        self.result(number)
        self.bounded(number)
        self.history["loss"].append(bytearray(10))
        self.cache[number] = bytearray(2000)
        self.seen.add(f"step {number}")
        self.last.append("a text")
        self.limited.append("a text")
        self.shared.append({number})
        msleaks.step(number)


numbers = []


def main():
    outputs, constant = [], [bytearray(1)] * 100
    trainer = Trainer()

    def keep():
        outputs.append(bytearray(100))

    for number in range(STEPS):
        keep()
        trainer.step(number)
        numbers.append(number)
    print(len(outputs), len(constant))


thread = threading.Thread(target=change)
thread.start()
main()
is_over = True
thread.join()
