"""Runs functions and files whose names have characters of many languages. The report must have these names.

    languages_test.py BUILD SCRATCH PYTHON
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from block_size import bytes_of_block
from msleaks_e2e import Msleaks, equal, need

build, scratch, python = sys.argv[1:4]
size = bytes_of_block(python)
MOST = 1024  # bytes of a function's name
FILES = {"plain.py": "plain", "größe.py": "größe", "пример.py": "пример", "分配.py": "分配", "𠀀.py": "𠀀", "🔥.py": "🔥", "long.py": "ä" * 3 + "分" * 400}

folder = Path(scratch).resolve() / "dateien 分配 🔥"
folder.mkdir(parents=True, exist_ok=True)
for file, function in FILES.items():
    (folder / file).write_text(f"def {'fire' if function == '🔥' else function}():\n    keep()\n", encoding="utf-8")

program = Path(__file__).parent / "programs/languages.py"
environment = {**os.environ, "PYTHONUTF8": "1"}
done, report = Msleaks(build).run(f"{scratch}/run", [need(python), program, folder], env=environment)
equal(f"exit status ({done.stderr})", done.returncode, 0)
report.expect_account()

found = set()
for line in report.alive():
    for path in line["paths"]:
        calls = [frame for frame in path["frames"] if frame["origin"] == "python"]
        if path["bytes"] == path["count"] * size and len(calls) > 1 and calls[0]["function"] == "keep":
            found.add((calls[1]["file"], calls[1]["line"], calls[1]["function"]))
cut = {function: function.encode()[:MOST].decode(errors="ignore") for function in FILES.values()}
equal("functions", found, {(str(folder / file), 2, cut[function]) for file, function in FILES.items()})
print(f"{len(found)} functions, each with its file and its name")
