"""Names the rows of symbols.def that no test in a folder expects in the log: rows_without_test.py SYMBOLS_DEF FOLDER"""
import pathlib
import re
import sys

table, folder = sys.argv[1:]
row = re.compile(r"^MSL_(?:ALLOC|REALLOC|MAP|REMAP|FREE|RETAIN|LAUNCH|COPY|SET) *\( *(\w+)", re.MULTILINE)
names = row.findall(pathlib.Path(table).read_text())
# A test expects "on_… | symbol at …" of the runtime that prints its callbacks.
expected = "\n".join(
    line
    for test in pathlib.Path(folder).iterdir()
    for line in test.read_text().splitlines()
    if "CHECK: on_" in line
)
missing = [name for name in names if not re.search(rf"\| {name}\b|\| {name}\{{\{{", expected)]
print(f"{len(names)} rows, without a test: {' '.join(missing) or 'none'}")
sys.exit(1 if missing or not names else 0)
