#!/usr/bin/env bash
# Checks msleaks with CUDA, on a real GPU.
#
# Runs counted kernels, from PTX that the driver compiles, and compares each count with a count made by hand.
#
# Runs the hooks with the current PyTorch: its caching allocator, expandable segments, cudaMallocAsync and CUDA graphs.
# Compares the report's device memory with PyTorch's own number. Compares the time of a step without msleaks with the
# time with call paths, ledger, handles and NVTX, but without a watch. The exit status is 1 if a step takes over 2%
# longer. If there is Nsight Systems, it also measures a step under `nsys` with memory tracing. Prints a table for
# docs/devices.md.
#
#   scripts/check-cuda.sh [--built FOLDER] [PYTHON]
#     PYTHON          one that has PyTorch with CUDA; else one is made from PyPI, 3 GB of downloads
#     --built FOLDER  of a build, or of an installed package: nothing is installed, built or fetched, and what is left out is
#                     said. For a machine without a network. PYTHON is python3 then, unless it is given
#
# test.sh does not run this script. Without a device, the script prints 'skipped: no device' and exits with status 77.
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

built=
if [[ ${1:-} == --built ]]; then
  built=${2:?"check-cuda.sh: --built needs a folder"}
  shift 2
fi
[[ ${1:-} != -* && $# -le 1 ]] || fail "check-cuda.sh: unknown option '$1'; --built is the only one" 2
has_device || skip 'no device'
is_prebuilt=$built
if [[ $is_prebuilt ]]; then
  [[ -x $built/bin/msleaks-run ]] || fail "check-cuda.sh: there is no $built/bin/msleaks-run" 2
  say "skipped: packages of the system (--built)"
  say "skipped: the build; $built is used"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
else
  "$repository/scripts/setup.sh"
  "$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks MemPass22
  built=$build_folder scratch=$build_folder/check-cuda
fi

kernels=0
/usr/bin/env python3 -B "$repository/test/e2e/cuda/kernels_cuda_test.py" "$built" "$scratch/kernels" || kernels=$?
((kernels == 0 || kernels == 77)) || exit 1

if [[ $is_prebuilt ]]; then
  [[ ${1:-} ]] || say "skipped: PyTorch from PyPI; python3 is used"
  python=$(command -v "${1:-python3}") || fail "check-cuda.sh: there is no ${1:-python3}" 2
  "$python" -c 'import torch' 2>/dev/null || skip "$python has no PyTorch, and none is fetched"
else
  python=${1:-$(fetch_once pytorch-cuda pypi.org install_pytorch)/bin/python3}
fi
python3 -B "$repository/test/e2e/cuda/pytorch_cuda_test.py" "$built" "$scratch" "$python"
