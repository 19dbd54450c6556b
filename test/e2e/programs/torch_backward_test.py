#!/usr/bin/env python3
"""Tests the modules and lines of blocks that a backward pass allocates. The bytes of each module at the peak must be those of its
gradients. A finding about gradients must name the line of the forward pass.

    torch_backward_test.py BUILD SCRATCH [PYTHON]      without PYTHON, uses Debian's interpreter and PyTorch
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import check, equal, line_of, torch_test  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/torch_backward.py"
SMALL = 32 << 10  # activations, and what PyTorch allocates beside a tensor
# PyPI's PyTorch calls MKL, which keeps buffers. They belong to the modules that needed them first.
BUFFERS = 2 << 20 if len(sys.argv) > 3 else 0


def record(msleaks, python, scratch, mode):
    """Returns the bytes of the gradients and the bytes at the peak, both by module, and the report."""
    done, report = msleaks.run(f"{scratch}/{mode}", [python, "-B", PROGRAM, mode])
    equal(f"{mode}: exit status ({done.stderr})", done.returncode, 0)
    report.expect_account()
    grouped = json.loads(msleaks.output("report", f"{scratch}/{mode}", "--json", "--group-by", "module"))
    rows, = (section["rows"] for section in grouped["sections"] if section["name"] == "peak_by_module")
    return json.loads(done.stdout), {row[0]: row[1] for row in rows}, report


def expect_gradients(mode, truth, found):
    buffers = 0
    for module, size in truth.items():
        more = size if mode == "twice" and module == "Net.scale" else 0  # what the second derivative needs
        check(found.get(module, 0) >= size, f"{mode}: {module}: {found.get(module)} bytes, not {size}")
        buffers += max(0, found[module] - int(size * 1.02) - more - SMALL)
    check(buffers <= BUFFERS, f"{mode}: the modules have {buffers} bytes more than their gradients")


def expect_forward_line(report):
    finding = next(finding for finding in report.json["findings"] if finding["kind"] == "growth")
    equal("place", (finding["site"]["file"], finding["site"]["line"]), (str(PROGRAM), line_of(PROGRAM, "the backward line")))
    evidence = finding["evidence"]
    equal("evidence", (evidence["phase"], evidence["module"]), ("backward", "Net.layers.*"))
    forward = evidence["forward"]
    equal("forward", (forward["file"], forward["line"]), (str(PROGRAM), line_of(PROGRAM, "the forward line")))
    check(forward["function"].endswith("forward"), f"{forward}")


def main():
    msleaks, scratch, python = torch_test()
    for mode in "plain", "twice", "failing":
        truth, found, _ = record(msleaks, python, scratch, mode)
        expect_gradients(mode, truth, found)
        print(f"{mode}: {found}")

    # A layer is called again outside of the network's call. So its class is known, but not its name.
    truth, found, _ = record(msleaks, python, scratch, "checkpoint")
    layers = sum(size for module, size in truth.items() if module.startswith("Net.layers."))
    expect_gradients("checkpoint", {"Linear": layers, "Net.scale": truth["Net.scale"]}, found)

    _, _, report = record(msleaks, python, scratch, "kept")
    expect_forward_line(report)
    text = msleaks.output("report", f"{scratch}/kept")
    check("for the forward line " in text, text)


if __name__ == "__main__":
    main()
