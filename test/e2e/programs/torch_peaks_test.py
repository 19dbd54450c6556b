#!/usr/bin/env python3
"""Runs torch_peaks.py with each of its mistakes, and with each mistake mended. The first finding must name the mistake and its line.
The findings of this line must save what the mended program saves at the peak. The mended program must not have this finding.

    torch_peaks_test.py BUILD SCRATCH PYTHON [FAULT...]
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import check, equal, expect_faults, line_of  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/torch_peaks.py"
# Python's arenas have 1 MiB. Two runs of one program need one or two more or less, so the peaks of two runs could not be compared.
ENVIRONMENT = {**os.environ, "PYTHONMALLOC": "malloc"}
# The kind of the finding that names the mistake, the evidence that this kind has only for such a mistake, and what to do.
FAULTS = {
    "Checkpoint": ("copy", "parameters_at", "drop each reference to what was loaded here (`del`)"),
    "Arrays": ("copy", "parameters_at", "drop each reference to what was loaded here (`del`)"),
    "Resumed": ("copy", "parameters_at", "drop each reference to what was loaded here (`del`)"),
    "Optimizers": ("late-free", "replaced_by", "Drop each reference to the old optimizer"),
    "Unfrozen": ("late-free", "replaced_by", "Drop each reference to the old optimizer"),
    "FirstBatch": ("first-step", "later_bytes", "the same batch size"),
    "Activations": ("recompute", "layers", "use_reentrant=False"),
    "Float64": ("float64", "places", "torch.tensor(x, dtype=torch.float32)"),
    "Shapes": ("growth", "is_cache", "Use few shapes"),
    "WarmUp": ("first-step", "later_bytes", "free what only the beginning needs"),
}


def expect_fault(msleaks, python, scratch, fault):
    kind, evidence, advice = FAULTS[fault]
    _, report = msleaks.run(f"{scratch}/{fault}", [python, "-B", PROGRAM, fault], env=ENVIRONMENT)
    report.expect_account()
    first = report.json["findings"][0]
    equal(f"{fault}: first finding", (first["kind"], evidence in first["evidence"], first["site"]["file"], first["site"]["line"]),
          (kind, True, str(PROGRAM), line_of(PROGRAM, f"made here: {fault}")))
    equal(f"{fault}: confidence", first["confidence"], "hint" if kind in ("recompute", "growth") else "likely")
    check(advice in first["advice"], f"{fault}: {first['advice']}")

    _, mended = msleaks.run(f"{scratch}/{fault}-fixed", [python, "-B", PROGRAM, fault, "--fixed"], env=ENVIRONMENT)
    kept = [found["site"]["line"] for found in mended.json["findings"] if found["kind"] == kind and evidence in found["evidence"]]
    equal(f"{fault}: findings of the mended program", kept, [])
    # oneDNN's cache is a finding for each operator that fills it: the forward part and the backward part of the same line.
    same = [found for found in report.json["findings"]
            if found["kind"] == kind and evidence in found["evidence"] and found["site"]["line"] == first["site"]["line"]]
    said = sum(found["evidence"]["saves_total_bytes"] for found in same)
    truth = report.json["peak"]["bytes"] - mended.json["peak"]["bytes"]
    check(abs(said - truth) < truth / 20, f"{fault}: saves {said} bytes of the peak, not {truth}")
    print(f"{fault}: saves {said} bytes of the peak, the mended program {truth}")


if __name__ == "__main__":
    expect_faults("torch, numpy", FAULTS, expect_fault)
