#!/usr/bin/env python3
"""Tests the kinds of PyTorch's tensors at the peak: the bytes of each kind must be what the network's sizes say.

    tensor_kinds_test.py BUILD SCRATCH [PYTHON]      without PYTHON, uses Debian's interpreter and PyTorch
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import check, equal, torch_test  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/tensor_kinds.py"
LAYERS, PASSES = 4, 8


def kinds_of(report):
    return {row[0]: row[1] for row in report.rows("tensor_kinds")}


# PyPI's PyTorch calls MKL and oneDNN, which keep work space of their own.
WORK_SPACE = 1 << 20 if len(sys.argv) > 3 else 0


def expect_about(what, found, truth):
    check(truth * 0.97 <= found <= truth * 1.05 + WORK_SPACE, f"{what}: {found} bytes, not {truth}")


def main():
    msleaks, scratch, python = torch_test()
    found, truths = {}, {}
    for mode in "optimizer", "forward", "closure", "kept", "inference":
        done, report = msleaks.run(f"{scratch}/{mode}", [python, PROGRAM, mode])
        equal(f"{mode}: exit status ({done.stderr})", done.returncode, 0)
        truths[mode] = json.loads(done.stdout)
        found[mode] = kinds_of(report)
        expect_about(f"{mode}: parameters", found[mode]["parameters"], truths[mode]["parameters"])
        print(f"{mode}: {found[mode]}")

    parameters, activation = truths["optimizer"]["parameters"], truths["forward"]["activation"]
    expect_about("optimizer: gradients", found["optimizer"]["gradients"], parameters)
    expect_about("optimizer: optimizer state", found["optimizer"]["optimizer state"], 2 * parameters)
    check("forward pass" not in found["optimizer"], f"the training has a backward part: {found['optimizer']}")

    for mode in "forward", "closure":
        expect_about(f"{mode}: activations", found[mode]["activations"], LAYERS * activation)
        expect_about(f"{mode}: other tensors", found[mode]["other tensors"], PASSES * activation)
        check(found[mode].get("kept over passes", 0) < activation // 2, f"{mode}: nothing is kept: {found[mode]}")

    # A graph that lives until the next pass belongs to activations.
    expect_about("kept: kept over passes", found["kept"]["kept over passes"] + found["kept"]["activations"], PASSES * LAYERS * activation)
    check(found["kept"]["kept over passes"] >= (PASSES - 2) * LAYERS * activation, f"{found['kept']}")

    equal("inference: kinds", set(found["inference"]), {"parameters", "forward pass", "other tensors"})
    check(found["inference"]["forward pass"] >= activation, f"{found['inference']}")


if __name__ == "__main__":
    main()
