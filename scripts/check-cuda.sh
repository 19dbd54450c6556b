#!/usr/bin/env bash
# Checks msleaks with CUDA, on a real GPU, and prints a table for docs/devices.md. There are two checks:
#
#   1. Runs counted kernels, from PTX that the driver compiles. Compares each count with a number that was computed by
#      hand.
#   2. Runs the current PyTorch with the hooks: its caching allocator, expandable segments, cudaMallocAsync and CUDA
#      graphs. Compares the report's device memory with PyTorch's own number.
#
# The second check also compares the time of a step with and without msleaks. In this comparison msleaks records call
# paths, ledger, handles and NVTX, but there is no watch. If a step takes over 2% longer, the exit status is 1. If Nsight
# Systems is installed, the check also measures a step under `nsys` with memory tracing.
#
#   scripts/check-cuda.sh [--built FOLDER] [PYTHON]
#   scripts/check-cuda.sh --prepare FOLDER
#     PYTHON          a Python that has PyTorch with CUDA. Without it, the script installs PyTorch from PyPI (3 GB)
#     --built FOLDER  the folder of a build or of an installed package, for a machine without a network. The script then
#                     installs, builds and downloads nothing. It prints the steps that it skips. PYTHON is python3,
#                     unless it is given
#     --prepare FOLDER  fills a new folder for --built, on a machine that may have no GPU: the programs of the Python
#                     wheel with their libraries, and the compiled kernels. The GPU's machine then needs no clang
#
# test.sh does not run this script. Without a GPU, the script prints 'skipped: no device' and exits with status 77.
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

prepare() {
  local wheel
  wheel=$("$repository/scripts/wheel.sh" "$scratch")
  mkdir -p "$1"
  python3 -m zipfile -e "$wheel" "$scratch/wheel"
  cp -r "$scratch"/wheel/msleaks/_native/* "$1"
  chmod +x "$1"/bin/*
  "$repository/scripts/build.sh" release msleaks MemPass22
  python3 -B "$repository/test/e2e/cuda/kernels_cuda_test.py" "$build_folder" "$1/kernels" prepare
}

if [[ ${1:-} == --prepare ]]; then
  [[ $# == 2 && ! -e $2 ]] || fail "check-cuda.sh: --prepare needs the name of a new folder" 2
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  prepare "$2"
  exit
fi
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

kernels=0 prepared=()
[[ ! -d $built/kernels ]] || prepared=("$built/kernels")
/usr/bin/env python3 -B "$repository/test/e2e/cuda/kernels_cuda_test.py" "$built" "$scratch/kernels" "${prepared[@]}" || kernels=$?
((kernels == 0 || kernels == 77)) || exit 1

if [[ $is_prebuilt ]]; then
  [[ ${1:-} ]] || say "skipped: PyTorch from PyPI; python3 is used"
  python=$(command -v "${1:-python3}") || fail "check-cuda.sh: there is no ${1:-python3}" 2
  "$python" -c 'import torch' 2>/dev/null || skip "$python has no PyTorch, and none is fetched"
else
  python=${1:-$(fetch_once pytorch-cuda pypi.org install_pytorch)/bin/python3}
fi
python3 -B "$repository/test/e2e/cuda/pytorch_cuda_test.py" "$built" "$scratch" "$python"
