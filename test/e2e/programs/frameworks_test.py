#!/usr/bin/env python3
"""Runs the programs and the notebook of examples/frameworks with the frameworks of PyPI. A report of a program must show its steps, its
ranges, its owners, and the line that makes what the program keeps. Without the mistake, the line must not be a finding.

    frameworks_test.py BUILD SCRATCH PYTHON      PYTHON has PyTorch, transformers, lightning, pandas, nbconvert and ipykernel
"""
import collections
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, expect_same, run  # noqa: E402

EXAMPLES = REPOSITORY / "examples/frameworks"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY / "tools/python"), "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass
class Example:
    steps: int
    ranges: Dict[str, int]  # how often each range begins
    owners: Dict[str, int]  # the least bytes that each owner must have at some time
    line: str  # makes what the program keeps
    kept_bytes: int  # the program keeps so many bytes in a step
    holder: str  # the container that keeps them


PROGRAMS = {
    "huggingface_train.py": Example(
        steps=16,
        ranges={"forward and backward": 16, "optimizer": 16},
        owners={"model": 2 * 1024 * 128 * 4, "data": 16 * 8 * 32 * 8, "trainer@between steps": 8 * 32 * 8},
        line="loss, outputs = super().compute_loss",
        kept_bytes=8 * 32 * 1024 * 4,
        holder="The list `KeepingTrainer.kept` in `<module>` gets 1 Tensor a step",
    ),
    "lightning_train.py": Example(
        steps=20,
        ranges={"forward": 20, "backward": 20, "optimizer": 20, "validation": 5},  # Lightning also validates before the training
        owners={"net@weights": 2 * 512 * 512 * 4, "data": 5 * 256 * 512 * 4, "trainer@between steps": 256 * 512 * 4,
                "trainer@validation": 256 * 512 * 4},
        line="output = self.layers(batch)",
        kept_bytes=256 * 512 * 4,
        holder="The list `net.outputs` in `main` gets 1 Tensor a step",
    ),
    "serving.py": Example(
        steps=29,
        ranges={"prefill": 24, "decode": 24 * 5},
        owners={"engine@weights": (1000 + 2 * 4 * 256) * 256 * 4, "engine@kv-cache": 24 * 2 * 69 * 2 * 256 * 4,
                "engine@prefill": 64 * 256 * 4},
        line="self.entries[layer] = torch.cat",
        kept_bytes=2 * 69 * 2 * 256 * 4 * 24 // 29,  # two layers, 24 requests in 29 steps
        holder="The dict `engine.finished_caches` in `main` gets 1 Cache a step",
    ),
}


def line_of(program, text):
    lines = [number for number, line in enumerate(program.read_text().splitlines(), 1) if text in line]
    equal(f"lines of {program.name} with `{text}`", len(lines), 1)
    return lines[0]


def events(msleaks, folder, kind):
    return [json.loads(line) for line in msleaks.output("dump", folder, "--json", "--kind", kind).splitlines()]


def growths_at(report, program, line):
    return [finding for finding in report.json["findings"]
            if finding["kind"] == "growth" and (finding["site"]["file"], finding["site"]["line"]) == (str(program), line)]


def expect_program(msleaks, python, scratch, program, example):
    plain = run([python, program], env=ENVIRONMENT)
    check(plain.returncode == 0, f"{program.name} does not run: {plain.stderr}")
    folder = f"{scratch}/{program.stem}"
    recorded, report = msleaks.run(folder, [python, program], env=ENVIRONMENT)
    expect_same(plain, recorded)
    report.expect_account()

    equal("steps", [event["number"] for event in events(msleaks, folder, "step")], list(range(example.steps)))
    ranges = collections.Counter(event["label"] for event in events(msleaks, folder, "range-begin"))
    equal("ranges", {name: ranges[name] for name in example.ranges}, example.ranges)
    table = next(section for section in report.json["sections"] if section["name"] == "owners")
    highest = [column["name"] for column in table["columns"]].index("highest")
    owners = {row[0]: row[highest] for row in table["rows"]}
    too_small = {name: owners.get(name) for name, least in example.owners.items() if (owners.get(name) or 0) < least}
    check(not too_small, f"owners of {program.name} with fewer bytes than {example.owners}: {too_small}")

    line = line_of(program, example.line)
    found = growths_at(report, program, line)
    check(found, f"no growth at {program.name}:{line}")
    growth = sum(finding["evidence"]["growth_bytes_per_step"] for finding in found)
    check(0.9 < growth / example.kept_bytes < 1.15, f"{program.name} grows by {growth} bytes a step, not by {example.kept_bytes}")
    holders = [finding["evidence"]["holders"] for finding in found]
    check(all(names == [example.holder] for names in holders), f"holders: {holders}")
    _, fixed = msleaks.run(f"{scratch}/{program.stem}-fixed", [python, program, "--fixed"], env=ENVIRONMENT)
    check(not growths_at(fixed, program, line), f"growth at {program.name}:{line} without the mistake")
    print(f"{program.name}: {example.steps} steps, {growth} bytes a step at line {line}")


def text_of(output):
    return "".join(output["text"] if "text" in output else output["data"]["text/plain"])


def expect_notebook(msleaks, python, scratch):
    """Executes the notebook in a kernel that msleaks records, and checks the results of its cells."""
    folder = Path(scratch, "notebook")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(EXAMPLES / "notebook.ipynb", folder)
    environment = {**ENVIRONMENT, "PATH": f"{msleaks.bin}:{os.environ['PATH']}"}
    convert = ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", "executed.ipynb", "notebook.ipynb"]
    done = run([python, "-m", "msleaks", "run", "--no-report", "-o", "RUN", *convert], cwd=folder, env=environment)
    equal(f"status of the notebook ({done.stderr[-2000:]})", done.returncode, 0)

    cells = json.loads((folder / "executed.ipynb").read_text())["cells"]
    outputs = {"".join(cell["source"]): "".join(map(text_of, cell["outputs"])) for cell in cells if cell["cell_type"] == "code"}
    for source, pattern in {
        "%%msleaks squares": r"the cell needs 22\.\d+ MiB, and leaves 7\.\d+ MiB\n  7\.\d+ MiB in 8 blocks: ",
        "before.steps": r"\n19 +19 +\d+$",
        "before.findings": r"\n0 +growth +history +<module> +10 +170\d{5}$",
        "changes =": r"\n0 +-170\d{5} +shrunk +<module> +10(\.0)? +20 +3$",
    }.items():
        results = [result for cell, result in outputs.items() if source in cell]
        check(len(results) == 1 and re.search(pattern, results[0]), f"the cell `{source}` printed {results}")
    print(f"notebook.ipynb: {len(outputs)} cells")


def main():
    build, scratch, python = arguments("build", "scratch", "python")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(Path(build).resolve())
    for name, example in PROGRAMS.items():
        expect_program(msleaks, python, scratch, EXAMPLES / name, example)
    expect_notebook(msleaks, python, scratch)


if __name__ == "__main__":
    main()
