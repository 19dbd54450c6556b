"""Runs more pieces of generated code than msleaks numbers. The first pieces must have their own lines, and a note must name the limit.

    generated_test.py BUILD SCRATCH PYTHON
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, line_of, need

build, scratch, python = sys.argv[1:4]
COUNT, LIMIT = 70000, 65536  # each piece has two codes: its module and `made_NUMBER`
FEWEST = (LIMIT - 4000) // 2  # Python's own functions have numbers, too
NOTE = "paths lack calls of Python code: the program has run more than 65,000 different functions"
PROGRAM = Path(__file__).parent / "programs/generated.py"

# A sampled object has an address of its own. So code with parts in the sample needs more numbers, and would reach the limit earlier.
OPTIONS = ["--python-objects", "off"]

done, report = Msleaks(build).run(f"{scratch}/run", [need(python), PROGRAM, str(COUNT)], OPTIONS)
equal("exit status", done.returncode, 0)
report.expect_account()
equal("notes of the limit", [note for note in report.json["notes"] if "different functions" in note], [NOTE])

at = line_of(PROGRAM, "blocks.append")
kept = next(line for line in report.alive() if line["site"]["file"] == str(PROGRAM) and line["site"]["line"] == at)
check(COUNT <= kept["count"] <= COUNT + 1, f"{kept['count']} blocks of {COUNT} pieces")
check(FEWEST < len(kept["paths"]) + kept["more_paths"] < LIMIT / 2 + 4, f"{len(kept['paths'])} + {kept['more_paths']} paths")
names = set()
for path in kept["paths"]:
    calls = [frame["function"] for frame in path["frames"] if frame["origin"] == "python"]
    if path["count"] == 1 and len(calls) == 4:
        names.add(calls[1])
        equal("calls", [calls[0], calls[1][:5], *calls[2:]], ["keep", "made_", "<module>", "<module>"])
check(len(names) >= len(kept["paths"]) - 3, f"{len(names)} functions on {len(kept['paths'])} paths")
print(f"{len(names)} functions of generated code, each with one block")
