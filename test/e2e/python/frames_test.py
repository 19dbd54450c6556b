"""Compares the calls of Python code in call paths with those that Python itself shows (sys._getframe).

    frames_test.py BUILD SCRATCH PYTHON [BLOCKS]
"""
import collections
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, need

build, scratch, python = sys.argv[1:4]
blocks = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
program = Path(__file__).parent / "programs/paths.py"
SIZE_IN_MEMORY = 20001  # a bytearray of 20000 bytes has one more byte


def python_calls(path):
    return tuple((frame["file"], frame["line"], frame["function"]) for frame in path["frames"] if frame["origin"] == "python")


done, report = Msleaks(build).run(Path(scratch) / "run", [need(python), program, "1", str(blocks)])
equal("exit status", done.returncode, 0)
report.expect_account()
true = {tuple(map(tuple, path)): count for path, count in json.loads(done.stdout)}
check(sum(true.values()) >= blocks, "the program kept too few blocks")
lines = {path[0] for path in true}

recorded = collections.Counter()
for line in report.alive():
    equal("paths that are left out", line["more_paths"], 0)
    for path in line["paths"]:
        calls = python_calls(path)
        if calls and calls[0] in lines:
            recorded[calls] += path["bytes"] // SIZE_IN_MEMORY  # Python may allocate a few small objects, too

recorded = {path: count for path, count in recorded.items() if count}
wrong = {path: (count, recorded.get(path, 0)) for path, count in true.items() if recorded.get(path) != count}
for path, (count, found) in list(wrong.items())[:3]:
    print(f"{count} blocks, {found} were recorded:", *path, sep="\n  ")
for path in [path for path in recorded if path not in true][:3]:
    print("recorded, but Python shows no such path:", *path, sep="\n  ")
check(not wrong and len(recorded) == len(true), f"{len(wrong)} of {len(true)} paths differ; {len(recorded)} were recorded")
print(f"{sum(true.values())} blocks on {len(true)} paths of {python}, each as Python shows it")
