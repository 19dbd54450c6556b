"""Tests C programs that embed Python (programs/embedding.c): threads that use several thread states or states of other threads.
Python also ends and begins again. The programs must end as without msleaks, and no block may have the lines of other code.

    embedding_test.py BUILD SCRATCH PYTHON
"""
import collections
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from embedded import build_embedding, version_of
from msleaks_e2e import Msleaks, check, equal, expect_same, run

build, scratch, python = sys.argv[1:4]
SIZE, OTHER_SIZE = 20000, 30000
# The number of blocks of each function. Python does not know that a thread uses a state that another thread has made. Before 3.12
# it also does not know which of two states a thread uses now. Blocks of such code have no lines of Python.
BLOCKS = {"in_first_state": 10, "in_second_state": 10, "in_other_thread": 10, "in_own_state": 10, "in_foreign_thread": 10,
          "in_life_1": 10, "in_life_2": 10, "in_life_3": 10}
MAY_LACK = {"in_other_thread"} | ({"in_second_state", "in_own_state"} if version_of(python) < (3, 12) else set())
OTHERS = 20 + 30 + 10 + 30

program = build_embedding(python, scratch, "embedding.c")
# A freed thread state contains 0x5a then, so a pointer that is read from it crashes the program.
environment = {**os.environ, "MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
plain = run([program], env=environment)
equal("output without msleaks", plain.stdout, "states 0\nfreed 0\nforeign 0\ntwice 0\n")
watched, report = Msleaks(build).run(f"{scratch}/run", [program], env=environment)
expect_same(plain, watched)
report.expect_account()

found = collections.defaultdict(collections.Counter)  # by the size of a block, and the innermost function of Python
for line in report.alive():
    equal("paths that are left out", line["more_paths"], 0)
    for path in line["paths"]:
        size = path["bytes"] / path["count"]
        if size not in (SIZE, OTHER_SIZE):
            continue
        calls = [frame for frame in path["frames"] if frame["origin"] == "python"]
        name = calls[0]["function"] if calls else None
        equal(f"calls of {name}", [call["function"] for call in calls], [name, "<module>"] if calls else [])
        equal(f"files of {name}", {call["file"] for call in calls}, {f"/embedded/{name[3:]}.py"} if calls else set())
        found[size][name] += path["count"]

for function, count in BLOCKS.items():
    recorded = found[SIZE][function]
    check(recorded == count or (recorded == 0 and function in MAY_LACK), f"{recorded} blocks of {function}, not {count}")
equal("blocks that Python code asked for", sum(found[SIZE].values()), sum(BLOCKS.values()))
equal("other blocks", found[OTHER_SIZE], {None: OTHERS})
print(f"{sum(BLOCKS.values())} blocks, {found[SIZE][None]} of them without lines of Python")
