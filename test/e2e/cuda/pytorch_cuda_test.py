#!/usr/bin/env python3
"""PyTorch on a real GPU under msleaks-run: what it has reserved is what the report says of the device's heap, in each way that PyTorch gets memory; and
what a step takes with everything on and without.   usage: pytorch_cuda_test.py BUILD SCRATCH PYTHON      (scripts/check-cuda.sh)
"""
import json
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/train_cuda.py"
STEPS, ROUNDS = 300, 5
WAYS = {"caching allocator": ("", "steps"), "expandable segments": ("expandable_segments:True", "steps"),
        "cudaMallocAsync": ("backend:cudaMallocAsync", "steps"), "CUDA graph": ("", "graph")}


def said_by(done):
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def device_peak(report):
    return max((heap["bytes"] for heap in report.json["peak"]["by_heap"] if heap["heap"] == "device"), default=0)


def main():
    build, scratch, python = arguments("build", "scratch", "python")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    print("| PyTorch | reserved, MiB | report's device heap, MiB | driver beside it, MiB | a step, with / without |\n|---|---|---|---|---|")
    for way, (allocator, how) in WAYS.items():
        environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=allocator)
        command = [python, "-B", PROGRAM, str(STEPS), how]
        ratios = []
        for _ in range(ROUNDS):
            alone = said_by(run(command, env=environment))
            done, report = msleaks.run(f"{scratch}/run", command, env=environment)
            watched = said_by(done)
            ratios.append(watched["step_ms"] / alone["step_ms"])
        check(watched["reserved"] == alone["reserved"], f"{way}: reserves {watched['reserved']}, alone {alone['reserved']}")
        report.expect_account()
        peak = device_peak(report)
        # cudaMallocAsync's pool is the driver's: PyTorch asks it for each tensor.
        wanted = watched["allocated"] if "Async" in way else watched["reserved"]
        check(wanted <= peak <= wanted * 1.1 + (64 << 20), f"{way}: {peak} of the device, PyTorch says {wanted}")
        driver = sum(line["at_peak_bytes"] for line in report.json["ledger"] if line["source"] == "driver")
        print(f"| {watched['torch']}, {way} | {wanted / 2**20:.1f} | {peak / 2**20:.1f} | {driver / 2**20:.1f} | {statistics.median(ratios):.3f} |")
    print(f"on {watched['device']}, median of {ROUNDS}")


if __name__ == "__main__":
    main()
