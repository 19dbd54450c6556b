"""Compares the modules of blocks with those that a program has called (programs/modules.py). The program makes modules again and again, at
the addresses of deleted ones.

    modules_test.py BUILD SCRATCH PYTHON
"""
import collections
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, need

build, scratch, python = sys.argv[1:4]
ROUNDS = 40
msleaks = Msleaks(build)
done, report = msleaks.run(f"{scratch}/run", [need(python), "-B", Path(__file__).parent / "programs/modules.py", str(ROUNDS)])
equal(f"exit status ({done.stderr})", done.returncode, 0)
report.expect_account()
addresses, *lines = done.stdout.splitlines()
check(int(addresses) < sum(3 + number % 3 for number in range(ROUNDS)), "no address of a module was used again")

true = collections.Counter()
for line in lines:
    count, size, name = line.split(" ")
    true[name] += int(count) * (int(size) + 1)  # a bytearray has one more byte in memory
grouped = json.loads(msleaks.output("report", f"{scratch}/run", "--json", "--group-by", "module", "--heap", "host"))
rows = next(section["rows"] for section in grouped["sections"] if section["name"] == "peak_by_module")
found = {name: size for name, size, _ in rows if name}
PYTHONS_OWN = 1 << 16  # lists and dicts that grow in a call of a module; smaller than each block
wrong = {name: (found.get(name, 0), true.get(name, 0)) for name in {*found, *true}
         if not 0 <= found.get(name, 0) - true.get(name, 0) <= PYTHONS_OWN}
check(not wrong, f"{len(wrong)} modules have wrong sums (found, true): {wrong}")
print(f"{len(true)} modules of {ROUNDS} nets at {addresses} addresses")
