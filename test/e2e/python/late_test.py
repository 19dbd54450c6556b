"""Loads libpython by dlopen in a program that is not linked to it (programs/plugin_host.c). From then on, blocks must have lines of Python.

    late_test.py BUILD SCRATCH PYTHON
"""
import collections
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from block_size import bytes_of_block
from embedded import PROGRAMS, library_of
from msleaks_e2e import Msleaks, check, equal, need

build, scratch, python = sys.argv[1:4]
size = bytes_of_block(python)
BLOCKS = {"global": {"in_first": 10}, "local": {"in_first": 10}, "again": {"in_second": 7}}

library = library_of(python)
os.makedirs(scratch, exist_ok=True)
host = Path(scratch) / "plugin_host"
check(subprocess.run([need("cc"), "-O2", PROGRAMS / "plugin_host.c", "-ldl", "-o", host]).returncode == 0, "plugin_host.c does not compile")

for way, blocks in BLOCKS.items():
    done, report = Msleaks(build).run(f"{scratch}/{way}", [host, library, way])
    equal(f"{way}: exit status ({done.stderr})", done.returncode, 0)
    equal(f"{way}: output", done.stdout.splitlines()[0], "end")
    report.expect_account()
    found = collections.Counter()
    for line in report.alive():
        for path in line["paths"]:
            calls = [frame["function"] for frame in path["frames"] if frame["origin"] == "python" and "<listcomp>" not in frame["function"]]
            if path["bytes"] == path["count"] * size and calls:
                equal(f"{way}: calls", calls[1:], ["<module>"])
                found[calls[0]] += path["count"]
    equal(f"{way}: blocks", found, blocks)
    print(f"{way}: {blocks}")
