#!/usr/bin/env bash
# Prints the folder with CUDA's headers, unpacked once from NVIDIA's packages on PyPI. Exits with 77 if there are none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

unpack() {
  python3 -m pip download -q --no-deps --no-cache-dir -d . nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-nvtx-cu12==12.9.79 nvidia-nvml-dev-cu12==12.9.79
  for wheel in *.whl; do python3 -m zipfile -e "$wheel" .; done
  mkdir include
  cp -r nvidia/cuda_runtime/include/. nvidia/cuda_nvcc/include/. nvidia/nvtx/include/. nvidia/nvml_dev/include/. include
  rm -rf nvidia ./*.whl ./*.dist-info
}

printf '%s/include\n' "$(fetch_once cuda-headers-12.9-nvml pypi.org unpack)"
