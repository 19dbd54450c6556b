#!/usr/bin/env python3
"""Runs torch_faults.py with each of its mistakes, and with each mistake mended. The first finding must have the line that made the
tensors, and the container that keeps them. The findings must have the bytes that the mistake keeps in a step. The mended program must
have no growth and no leak.

    torch_faults_test.py BUILD SCRATCH PYTHON [FAULT...]
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import check, equal, expect_faults, line_of  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/torch_faults.py"
TENSOR = 256 * 1024 * 4
# The bytes that each mistake keeps in a step with all its findings, and the container that keeps them; None: it has no name.
FAULTS = {
    "Accumulated": (2 * TENSOR + TENSOR // 1024, None),  # the input, and what the ReLU returns
    "Stored": (TENSOR, "list `fault.outputs` in `main` gets 1 Tensor"),
    "Traceback": (TENSOR, "list `fault.errors` in `main` gets 1 ValueError"),
    "Cycle": (TENSOR, None),
    "Hook": (TENSOR, "list `fault.activations` in `main` gets 1 Tensor"),
    "Cache": (TENSOR, "cache `Cache.mask` in `<module>` gets 1 Tensor"),
    "CreateGraph": (3 * TENSOR, None),  # the parameter, the gradient, and what its graph keeps
    "KeyValues": (TENSOR, "dict `fault.sessions` in `main` gets 1 list"),
    "Closure": (TENSOR, "list `fault.later` in `main` gets 1 function"),
}


def expect_fault(msleaks, python, scratch, fault):
    truth, holder = FAULTS[fault]
    _, report = msleaks.run(f"{scratch}/{fault}", [python, "-B", PROGRAM, fault])
    report.expect_account()
    first, growths = report.json["findings"][0], [found for found in report.json["findings"] if found["kind"] == "growth"]
    equal(f"{fault}: first finding", (first["kind"], first["site"]["file"], first["site"]["line"]),
          ("growth", str(PROGRAM), line_of(PROGRAM, f"made here: {fault}")))
    growth = sum(found["evidence"]["growth_bytes_per_step"] for found in growths)
    check(abs(growth - truth) < truth / 20, f"{fault}: {growth} bytes a step, not {truth}")
    wanted = None if holder is None else [f"The {holder} a step"]
    equal(f"{fault}: containers", first["evidence"].get("holders"), wanted)
    check(holder is None or wanted[0] in first["advice"], first["advice"])

    _, mended = msleaks.run(f"{scratch}/{fault}-fixed", [python, "-B", PROGRAM, fault, "--fixed"])
    kept = [(found["kind"], found["site"]["line"]) for found in mended.json["findings"] if found["kind"] in ("growth", "leak")]
    equal(f"{fault}: findings of the mended program", kept, [])
    print(f"{fault}: {growth} bytes a step, {truth} are kept")


if __name__ == "__main__":
    expect_faults("torch", FAULTS, expect_fault)
