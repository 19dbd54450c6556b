"""Runs functions of real files whose code objects have the same address after each other. Each block must have the line of the function
that asked for it.

    recycled_test.py BUILD SCRATCH PYTHON
"""
import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from block_size import bytes_of_block
from msleaks_e2e import Msleaks, check, equal, need

build, scratch, python = sys.argv[1:4]
size = bytes_of_block(python)
COUNT = 1000
folder = Path(scratch).resolve() / "plugins"
folder.mkdir(parents=True, exist_ok=True)
for number in range(COUNT):
    (folder / f"plugin_{number:04}.py").write_text(f"def work_{number:04}(count):\n    keep(count)\n")

done, report = Msleaks(build).run(f"{scratch}/run", [need(python), Path(__file__).parent / "programs/recycled.py", folder, str(COUNT)])
equal("exit status", done.returncode, 0)
report.expect_account()
check(int(done.stdout) < COUNT, "no address of a function was used again")

found = collections.Counter()
for line in report.alive():
    equal("paths that are left out", line["more_paths"], 0)
    for path in line["paths"]:
        calls = [frame for frame in path["frames"] if frame["origin"] == "python"]
        if path["bytes"] == path["count"] * size and len(calls) > 1 and calls[0]["function"] == "keep":
            found[Path(calls[1]["file"]).name, calls[1]["line"], calls[1]["function"]] += path["count"]
true = {(f"plugin_{number:04}.py", 2, f"work_{number:04}"): number % 3 + 1 for number in range(COUNT)}
wrong = {key: (found[key], true.get(key, 0)) for key in {*found, *true} if found[key] != true.get(key, 0)}
check(not wrong, f"{len(wrong)} functions have wrong numbers of blocks (found, true): {wrong}")
print(f"{sum(found.values())} blocks of {COUNT} functions at {done.stdout.strip()} addresses")
