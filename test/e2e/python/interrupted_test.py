"""Interrupts Python code by signals whose handler allocates. The program must end as without msleaks, and each block of the
interrupted code must have the calls that Python shows.

    interrupted_test.py BUILD SCRATCH PYTHON
"""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from frames import compare
from msleaks_e2e import check, need

KEPT_SIZE = 7001

build, scratch, python = sys.argv[1:4]
Path(scratch).mkdir(parents=True, exist_ok=True)
library = Path(scratch).resolve() / "libinterrupt.so"
source = Path(__file__).parent / "programs/interrupt.c"
check(subprocess.run([need("cc"), "-O2", "-shared", "-fPIC", source, "-o", library]).returncode == 0, "interrupt.c does not compile")

report, printed = compare(build, scratch, python, 4000, library)
in_python, elsewhere = map(int, printed.split("\n")[0].split())
check(in_python > 0 and elsewhere > 0, f"only {in_python} interruptions of Python, and {elsewhere} others")
kept = [path for line in report.alive() for path in line["paths"] if path["bytes"] == path["count"] * KEPT_SIZE]
check(kept, "no block of the handler was recorded")
# The handler may have interrupted the interpreter while it changed its list of calls.
check(not any(frame["origin"] == "python" for path in kept for frame in path["frames"]), "blocks of the handler have calls of Python")
print(f"{in_python} interruptions of Python, and {elsewhere} others; {sum(path['count'] for path in kept)} blocks of the handler")
