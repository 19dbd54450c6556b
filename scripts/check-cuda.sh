#!/usr/bin/env bash
# The hooks of CUDA on a real GPU, with the current PyTorch: its caching allocator, expandable segments, cudaMallocAsync and
# CUDA graphs. Compares what the report says of the device's memory with what PyTorch says of its own, and the time of a step
# with and without msleaks. Prints a table for docs/devices.md.
#
#   scripts/check-cuda.sh [PYTHON]     PYTHON: one that has PyTorch with CUDA; else one is made from PyPI, 3 GB of downloads
#
# Not part of test.sh. Without a device it prints 'skipped: no device'; exit status 77.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../bench/workloads/fetch.sh"

has_device() {
  /usr/bin/env python3 - <<'PYTHON'
import ctypes
import sys

try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError:
    sys.exit(1)
count = ctypes.c_int()
sys.exit(0 if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0 else 1)
PYTHON
}

install_pytorch() {
  /usr/bin/python3 -m venv --copies .
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check torch numpy
}

has_device || skip 'no device'
"$repository/scripts/setup.sh"
"$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks
python=${1:-$(fetch_once pytorch-cuda pypi.org install_pytorch)/bin/python3}
exec python3 -B "$repository/test/e2e/cuda/pytorch_cuda_test.py" "$build_folder" "$build_folder/check-cuda" "$python"
