"""Tests the sample of small objects: the estimate of each line, the account of freed objects, and that the programs run as before.

    objects_test.py BUILD SCRATCH PYTHON
"""
import json
import math
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from embedded import version_of
from msleaks_e2e import Msleaks, Report, check, equal, expect_same, line_of, need, run

build, scratch, python = sys.argv[1:4]
need(python)
scratch = Path(scratch)
scratch.mkdir(parents=True, exist_ok=True)
msleaks = Msleaks(build)
program, leak = (Path(__file__).parent / "programs" / name for name in ("small_objects.py", "small_leak.py"))
environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3] / "tools/python"), "PYTHONHASHSEED": "0"}


def record(name, *how, options=(), **more):
    """Runs the program with and without msleaks, and compares. Returns the program's output, and the folder of the run."""
    command, settings = [python, program, *how], {"env": {**environment, **more}}
    done, report = msleaks.run(scratch / name, command, ["--no-report", *options], **settings)
    expect_same(run(command, **settings), done, stderr=True)
    report.expect_account()
    return done.stdout, report


def at(name, moment):
    return Report(json.loads(msleaks.output("report", scratch / name, "--at", moment, "--json")))


def estimates(report):
    """Returns {line: [bytes, objects, samples]} of the program's own lines."""
    sections = [section for section in report.json["sections"] if section["name"] == "python_objects"]
    return {row[0]["line"]: row[1:] for section in sections for row in section["rows"] if (row[0]["file"] or "").endswith(program.name)}


def line(comment):
    return line_of(program, f"# {comment}")


def expect_estimates(report, truth):
    """Checks each estimate. A sum of independent samples of equal weight has the standard deviation sum / sqrt(samples)."""
    found = estimates(report)
    for comment, size in truth.items():
        about, _, samples = found[line(comment)]
        tolerance = 3 / math.sqrt(samples)
        check(samples > 50 and abs(about / size - 1) < tolerance, f"{comment}: about {about} bytes of {size}, tolerance {tolerance:.1%}")


output, report = record("keep", "keep")
truth = json.loads(output)
expect_estimates(report, truth)
expect_estimates(at("keep", "mark:kept"), truth)
left = estimates(at("keep", "mark:freed"))
expect_estimates(at("keep", "mark:freed"), {"records": truth["records"]})
for comment in ("texts", "lists", "grown"):  # Python keeps up to 80 empty lists
    check(left.get(line(comment), [0])[0] < 100_000, f"freed objects are still there: {left}")
equal("sampled blocks in the totals", [heap["heap"] for heap in report.json["peak"]["by_heap"] if heap["heap"] == "python"], [])

output, _ = record("threads", "threads")
expect_estimates(at("threads", "mark:kept"), json.loads(output))

output, _ = record("fork", "fork")
check(output.endswith(" 0\n"), f"the child failed: {output}")
expect_estimates(at("fork", "mark:kept"), json.loads(output.split("}")[0] + "}"))

equal("wrong contents", record("sizes", "sizes")[0], "{} 0\n")
if version_of(python) >= (3, 12):
    record("interpreters", "interpreters")

for name, options, variable in [("off", ["--python-objects", "off"], {}), ("malloc", [], {"PYTHONMALLOC": "malloc"}),
                                ("debug", [], {"PYTHONMALLOC": "debug"}), ("tracing", [], {"PYTHONTRACEMALLOC": "1"})]:
    _, report = record(name, "keep", "2000000", options=options, **variable)
    if name != "tracing":
        equal(f"samples with {name}", estimates(report), {})
    notes = [note for note in report.json["notes"] if "small objects of Python" in str(note)]
    equal(f"notes with {name}", len(notes), int(name == "debug"))

STEPS = 30


def leaking(*how):
    done, report = msleaks.run(scratch / "leak", [python, leak, str(STEPS), *how], env=environment)
    equal("exit status", (done.returncode, done.stdout.splitlines()[0]), (0, str(1 if how else STEPS)))
    return [finding for finding in report.json["findings"] if finding["kind"] == "growth"], report


growth, report = leaking()
first = report.json["findings"][0]
equal("first finding", (first["kind"], first["heap"], first["site"]["line"]), ("growth", "python", line_of(leak, "# the leak")))
equal("growths", [finding["heap"] for finding in growth if finding["heap"] != "host"], ["python"])
asked = "number, step = '7' * 3, 7; import sys; print(3000 * (sys.getsizeof({'step': 1, 'number': number}) + sys.getsizeof(number)))"
size = int(subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout)
found, samples = first["evidence"]["growth_bytes_per_step"], first["bytes"] / first["evidence"]["sampled_every_bytes"]
check(abs(found / size - 1) < 3 / math.sqrt(samples) + 0.02, f"growth of about {found} bytes a step, not {size}")
text = msleaks.output("report", scratch / "leak")
check(f"Python objects made at {leak.name}:{first['site']['line']} grow by about" in text and "a step (sampled)" in text, text)
check("sampled" in text and "about" in text, text)
equal("findings of the mended program", leaking("mended")[0], [])
