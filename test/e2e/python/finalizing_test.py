"""Ends Python programs while their daemon threads allocate. The programs must end as without msleaks.

    finalizing_test.py BUILD SCRATCH PYTHON [RUNS]
"""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, need

DAEMONS = 3  # threads that still allocate when the program ends

build, scratch, python = sys.argv[1:4]
runs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
programs = Path(__file__).parent / "programs"
scratch = Path(scratch)
scratch.mkdir(parents=True, exist_ok=True)
library = scratch / "liballocate.so"
check(subprocess.run([need("cc"), "-O2", "-shared", "-fPIC", programs / "allocate.c", "-o", library]).returncode == 0, "allocate.c does not compile")

# A freed thread state contains 0x5a then, so a pointer that is read from it crashes the program.
environment = {**os.environ, "MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
for number in range(runs):
    done, report = Msleaks(build).run(scratch / "run", [need(python), programs / "late_threads.py", library.resolve()], env=environment)
    equal(f"exit status of run {number} ({done.stderr})", done.returncode, 0)
    equal("output", done.stdout.splitlines()[0], "end")
    report.expect_account(cut_off=DAEMONS)
