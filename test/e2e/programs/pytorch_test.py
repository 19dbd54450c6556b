#!/usr/bin/env python3
"""Runs examples/pytorch/train.py with PyTorch on the CPU. Nothing is instrumented, so hooks alone record the memory. The report must
show how much of this memory PyTorch's libraries allocated.

    pytorch_test.py BUILD SCRATCH [PYTHON]      without PYTHON, uses Debian's interpreter and PyTorch
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, expect_same, run, skip  # noqa: E402

TRAIN = REPOSITORY / "examples/pytorch/train.py"


def bytes_by_library(report):
    libraries = {}
    for row in report.sites("peak"):
        library = os.path.basename(row["site"]["library"] or "unknown")
        libraries[library] = libraries.get(library, 0) + row["bytes"]
    return libraries


def main():
    build, scratch = arguments("build", "scratch")
    python = sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/python3"
    os.makedirs(scratch, exist_ok=True)
    version = run([python, "-c", "import torch; print(torch.__version__)"])
    if version.returncode != 0:
        skip(f"{python} has no PyTorch; python3-torch brings it")
    msleaks = Msleaks(build)
    command = [python, TRAIN, "--steps", "30"]

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
    print(f"PyTorch {version.stdout.strip()}: peak {report.peak_bytes} bytes, {torch} of them PyTorch's own libraries'")


if __name__ == "__main__":
    main()
