"""Forks in a thread of Python while other threads allocate. Each block of the children and of their children must have its lines.

    forking_test.py BUILD SCRATCH PYTHON
"""
import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from block_size import bytes_of_block
from msleaks_e2e import Msleaks, equal, need

build, scratch, python = sys.argv[1:4]
size = bytes_of_block(python)
CHILDREN = 20

program = Path(__file__).parent / "programs/forking.py"
done, report = Msleaks(build).run(f"{scratch}/run", [need(python), program, str(CHILDREN)])
equal(f"exit status ({done.stderr})", done.returncode, 0)
equal("output", done.stdout.splitlines()[0], "end")
report.expect_account()

found = collections.Counter()
for line in report.alive():
    for path in line["paths"]:
        calls = tuple(frame["function"] for frame in path["frames"] if frame["origin"] == "python")
        if path["bytes"] == path["count"] * size and calls and calls[0].startswith("keep"):
            found[calls[: calls.index("fork_often") + 1]] += path["count"]
equal("blocks on each path", found, {("keep_in_child", "run_child", "fork_often"): CHILDREN,
                                     ("keep_in_grandchild", "run_child", "run_child", "fork_often"): CHILDREN})
print(f"{sum(found.values())} blocks of children and their children")
