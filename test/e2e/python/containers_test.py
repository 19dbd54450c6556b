"""Tests that the containers that get items in each step are counted, and named in a finding.

    containers_test.py BUILD SCRATCH PYTHON
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, need

build, scratch, python = sys.argv[1:4]
STEPS, LOOKS = 30, [2, 3, 4, 6, 8, 12, 16, 24]
msleaks = Msleaks(build)
package = Path(__file__).resolve().parents[3] / "tools/python"
run = Path(scratch) / "run"
os.makedirs(scratch, exist_ok=True)

done, report = msleaks.run(run, [need(python), Path(__file__).parent / "programs/containers.py", str(STEPS)],
                           env={**os.environ, "PYTHONPATH": str(package)})
equal(f"exit status ({done.stderr})", done.returncode, 0)
equal("output", done.stdout, f"{STEPS} 100\n")
report.expect_account()

counts, places = {}, {}
for counter in map(json.loads, msleaks.output("dump", run, "--json", "--kind", "counter").splitlines()):
    if not counter["label"].startswith("python@items@"):
        continue
    name, function, kind, item, file = counter["label"].split("@")[2:]
    counts.setdefault(name, []).append(counter["value"])
    places[name] = (function.split(".")[-1], kind, item, Path(file).name)
for name in [name for name in counts if name.startswith("changing")]:
    del counts[name]  # the other thread's

expected = {"trainer.history['loss']": ("main", "list", "bytearray"), "trainer.cache": ("main", "dict", "bytearray"),
            "trainer.seen": ("main", "set", "str"), "trainer.last": ("main", "deque", "str"), "numbers": ("<module>", "list", "int"),
            "outputs": ("main", "list", "bytearray"), "Trainer.shared": ("<module>", "list", "set"),
            "Trainer.result": ("<module>", "cache", "bytearray"), "Trainer.bounded": ("<module>", "cache", "tuple"), "trainer.limited": ("main", "deque", "str")}
version = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=True)
if tuple(map(int, version.stdout.split())) < (3, 11):  # before 3.11, the variables of closures are not read where they are defined
    del expected["outputs"]
equal("containers", sorted(counts), sorted(expected))
for name, place in expected.items():
    equal(f"place of {name}", places[name], (*place, "containers.py"))
    wanted = [2, 3, 5, 7, 11, 15, 23] if name == "numbers" else [2, 3, 4] if name == "trainer.limited" else LOOKS
    equal(f"items of {name}", counts[name], wanted)

growth = [finding for finding in report.json["findings"] if finding["kind"] == "growth"]
equal("growths", [finding["site"]["function"].split(".")[-1] for finding in growth][:1], ["step"])
advice, holders = growth[0]["advice"], growth[0]["evidence"]["holders"]
check(advice.count(" (1 ") == 3 and advice.startswith("Probably the ") and "keeps these blocks" in advice, advice)
check({"The dict `trainer.cache` in `main` gets 1 bytearray a step", "The cache `Trainer.result` in `<module>` gets 1 bytearray a step"}
      <= set(holders), holders)
check(not any("numbers" in holder or "limited" in holder for holder in holders), holders)
