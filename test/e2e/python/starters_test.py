"""Checks that the paths of a thread contain the calls of Python code that have started it (programs/started_threads.py).

    starters_test.py BUILD SCRATCH PYTHON
"""
import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, need

build, scratch, python = sys.argv[1:4]
SIZE, GENERATIONS, MOST_STARTERS = 1_000_000, 12, 4
program = Path(__file__).parent / "programs/started_threads.py"
done, report = Msleaks(build).run(f"{scratch}/run", [need(python), "-B", program, str(SIZE), str(GENERATIONS)])
equal(f"output ({done.stderr})", done.stdout.splitlines()[0], "end")


def own_calls(path):
    """The calls in the program itself, innermost first."""
    return [frame["function"] for frame in path["frames"] if frame["file"] == str(program)]


found = collections.Counter()
for line in report.alive():
    for path in line["paths"]:
        of_block, rest = divmod(path["bytes"] // path["count"], SIZE)
        if rest == 1 and of_block:  # a bytearray has one more byte in memory
            check(path["complete"], f"an incomplete path: {path}")
            found[of_block, tuple(own_calls(path))] += path["count"]


def chain(*callers):
    """The blocks of threads that start each other."""
    return collections.Counter((2, ("keep_after",) * (1 + min(number, MOST_STARTERS)) + callers) for number in range(GENERATIONS + 1))


# The child of a fork does not know the calls of its parent that have started its thread.
equal("blocks on each path", found, {(1, ("keep_in_pool", "<module>")): 3, **chain("keep_in_chain", "<module>"),
                                     (3, ("keep_in_child",)): 1, **chain("keep_in_child")})
print(f"{sum(found.values())} blocks of threads that Python has started")
