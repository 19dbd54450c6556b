#!/usr/bin/env python3
"""Runs examples/pytorch/train.py with PyTorch on the CPU. Nothing is instrumented, so hooks alone record the memory. The report must
show how much of this memory PyTorch's libraries allocated.

    pytorch_test.py BUILD SCRATCH [PYTHON]      without PYTHON, uses Debian's interpreter and PyTorch
"""
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, expect_same, run, skip  # noqa: E402

TRAIN = REPOSITORY / "examples/pytorch/train.py"
GRAPH = REPOSITORY / "examples/pytorch/kept_graph.py"
STEPS = 30


def bytes_by_library(report):
    libraries = {}
    for row in report.sites("peak"):
        library = os.path.basename(row["site"]["library"] or "unknown")
        libraries[library] = libraries.get(library, 0) + row["bytes"]
    return libraries


def expect_lines(report):
    """Checks that the report names lines of the training script, as far as libraries do not keep the memory for themselves."""
    rows = [row["site"] for row in report.sites("peak") if row["site"]["origin"] == "python"]
    functions = {site["function"].split(".")[-1] for site in rows if site["file"] == str(TRAIN)}
    check({"step", "make_network"} <= functions, f"the report names these functions of train.py: {functions}")


def expect_operators(msleaks, folder, report):
    """Checks that blocks belong to PyTorch's operators, and that the end of Optimizer.step is the end of a step."""
    owners = {row[0] for row in report.rows("owners")}
    check("pytorch@operator@aten::conv2d" in owners and "pytorch@backward@ConvolutionBackward0" in owners, f"{owners}")
    steps = [json.loads(line) for line in msleaks.output("dump", folder, "--json", "--kind", "step").splitlines()]
    check(len(steps) == STEPS, f"{len(steps)} steps instead of {STEPS}")


def expect_ledger(report):
    """Checks that the ledger explains all but 5 % of the resident memory at the peak."""
    lines = {line["source"]: line["at_peak_bytes"] for line in report.json["ledger"] if line["device"] is None}
    resident = report.json["peak"]["resident_bytes"]
    equal("sum of the ledger", sum(lines.values()), resident)
    rest = abs(lines.get("not-resident", 0) + lines.get("unattributed", 0))
    check(rest <= 0.05 * resident, f"{rest} of {resident} bytes have no line of their own: {lines}")
    check(lines["image-data"] > 0, f"{lines}")


def expect_growth(msleaks, python, scratch):
    """Checks that the graphs that a list of losses keeps are the first findings, and that the mended program has none."""
    _, report = msleaks.run(f"{scratch}/kept", [python, GRAPH])
    found = [finding for finding in report.json["findings"] if finding["kind"] == "growth"]
    functions = [(finding["site"]["file"], finding["site"]["function"]) for finding in found]
    check(found and set(functions) <= {(str(GRAPH), "loss_of"), (str(GRAPH), "validate")}, f"findings: {functions}")
    evidence = [(finding["evidence"]["phase"], finding["evidence"]["operator"]) for finding in found]
    check(set(evidence) <= {("forward", f"aten::{name}") for name in ("linear", "gelu", "randn")}, f"evidence: {evidence}")
    modules = {finding["site"]["function"]: finding["evidence"].get("module") for finding in found}
    check(modules == {"loss_of": "Sequential.*", "validate": None}, f"modules: {modules}")  # both layers keep activations
    check(all("`.item()`" in finding["advice"] and "`losses`" in finding["advice"] for finding in found), f"advice: {found}")
    holders = [finding["evidence"]["holders"] for finding in found]
    check(all(names == ["The list `losses` in `<module>` gets 1 Tensor a step"] for names in holders), f"holders: {holders}")
    check(found[0]["site"]["function"] == "loss_of" and len({finding.get("family") for finding in found}) == 1, f"causes: {found}")
    text = msleaks.output("report", f"{scratch}/kept")
    check(text.count("growth: ") == 1 and re.search(r"\n    with [\d.]+ MiB in \d+ blocks of \S*kept_graph\.py:\d+ in\s+validate\n", text), text)
    growth = sum(finding["evidence"]["growth_bytes_per_step"] for finding in found)
    # The inputs, what the first layer returns, and what the GELU returns.
    truth = 3 * 256 * 512 * 4
    check(abs(growth - truth) < truth / 20, f"{growth} bytes a step, not {truth}")
    _, mended = msleaks.run(f"{scratch}/mended", [python, GRAPH, "--fixed"])
    check(mended.json["findings"] == [], f"the mended program has findings: {mended.json['findings']}")


def main():
    build, scratch = arguments("build", "scratch")
    python = sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/python3"
    os.makedirs(scratch, exist_ok=True)
    version = run([python, "-c", "import torch; print(torch.__version__)"])
    if version.returncode != 0:
        skip(f"{python} has no PyTorch; python3-torch brings it")
    msleaks = Msleaks(build)
    command = [python, TRAIN, "--steps", str(STEPS)]

    plain = run(command)
    check(plain.returncode == 0 and "step   29" in plain.stdout, f"the training does not run: {plain.stderr}")
    watched, report = msleaks.run(f"{scratch}/run", command)
    expect_same(plain, watched)
    report.expect_account()
    report.expect_sums()
    check(len(report.json["processes"]) >= 1 and report.json["processes"][0]["exit"] == 0, f"{report.json['processes']}")
    check(report.peak_bytes > 10_000_000, f"a training that peaks at {report.peak_bytes} bytes?")
    libraries = bytes_by_library(report)
    torch = sum(size for library, size in libraries.items() if library.startswith(("libtorch", "libc10")))
    check(torch > 1_000_000, f"PyTorch's libraries hold {torch} bytes at the peak: {libraries}")
    expect_lines(report)
    expect_operators(msleaks, f"{scratch}/run", report)
    expect_ledger(report)
    expect_growth(msleaks, python, scratch)
    print(f"PyTorch {version.stdout.strip()}: peak {report.peak_bytes} bytes, {torch} of them PyTorch's own libraries'")


if __name__ == "__main__":
    main()
