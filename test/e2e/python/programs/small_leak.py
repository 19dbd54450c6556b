"""Keeps the records of each step in a list, or with the argument `mended` only those of the last step: small_leak.py STEPS [mended]."""
import sys

import msleaks

history = []


def handle(step):
    return [{"step": step, "number": str(number)} for number in range(3000)]  # the leak


def main():
    for step in range(int(sys.argv[1])):
        msleaks.step(step)
        if "mended" in sys.argv:
            history.clear()
        history.append(handle(step))
    print(len(history))


main()
