"""Prints the rows of docs/reference/symbols.md whose function no test in FOLDER expects in its log. For functions that only hooks see, prints those
that no program of PROGRAMS calls. Also prints the tests that do not run at both -O0 and -O2. usage: rows_without_test.py TABLE
FOLDER PROGRAMS"""
import pathlib
import re
import sys

table, folder, programs = sys.argv[1:]
rows = re.findall(r"^\| `(\w+)` \| ([\w ()]+) \|", pathlib.Path(table).read_text(), re.MULTILINE)
names = [name for name, verb in rows if verb in ("alloc", "realloc", "map", "remap", "free", "protect", "retain", "launch", "copy", "set")]
hooked = [name for name, verb in rows if verb in ("access", "kernel", "argument") or verb.endswith("(hooks)")]
called = "\n".join(program.read_text() for program in pathlib.Path(programs).iterdir())
# The runtime of the tests prints a callback as "on_… | symbol at …", and the tests expect this text.
expected, one_level = [], []
for test in pathlib.Path(folder).iterdir():
    lines = test.read_text().splitlines()
    found = [line for line in lines if "CHECK: on_" in line]
    runs = [line for line in lines if "RUN:" in line and "%logged" in line]
    if found and not all(any(f" {level} " in run for run in runs) for level in ("-O0", "-O2")):
        one_level.append(test.name)
    expected += found
expected = "\n".join(expected)
missing = [name for name in names if not re.search(rf"\| {name}\b|\| {name}\{{\{{", expected)]
missing += [name for name in hooked if not re.search(rf"\b{name}[(\")]", called)] # some programs ask for a function by its name
print(f"{len(names) + len(hooked)} rows, without a test: {' '.join(missing) or 'none'}; not at -O0 and -O2: {' '.join(one_level) or 'none'}")
sys.exit(1 if missing or one_level or not names else 0)
