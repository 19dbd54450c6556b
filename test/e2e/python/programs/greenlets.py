"""Allocates in two greenlets that switch between each other. Each has calls of Python code of its own."""
from greenlet import greenlet

ROUNDS = 50
kept = [None] * (2 * ROUNDS)  # so that no line makes it grow


def allocate(number):
    kept[number] = bytearray(10_000)  # block of the first


def first():
    for number in range(ROUNDS):
        allocate(number)  # call of the first
        other.switch()


def second():
    for number in range(ROUNDS, 2 * ROUNDS):
        kept[number] = bytearray(20_000)  # block of the second
        one.switch()


one, other = greenlet(first), greenlet(second)
one.switch()
print(kept.count(None))
