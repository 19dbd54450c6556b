#!/usr/bin/env bash
# Prints the path of CUDA's assembler. Unpacks it once, from NVIDIA's package on PyPI. Exits with 77 if there is none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

unpack() {
  python3 -m pip download -q --no-deps --no-cache-dir -d . nvidia-cuda-nvcc-cu12==12.9.86
  python3 -m zipfile -e ./*.whl .
  mv nvidia/cuda_nvcc/bin/ptxas .
  chmod +x ptxas
  rm -rf nvidia ./*.whl ./*.dist-info
}

printf '%s/ptxas\n' "$(fetch_once cuda-ptxas-12.9 pypi.org unpack)"
