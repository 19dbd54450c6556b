#!/usr/bin/env bash
# headers.sh [13]: prints the folder with the headers of CUDA 12.9, or of CUDA 13.5. Unpacks them once, from NVIDIA's
# packages on PyPI. Exits with 77 if there are none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

unpack() { # PACKAGES...
  python3 -m pip download -q --no-deps --no-cache-dir -d . "$@"
  for wheel in *.whl; do python3 -m zipfile -e "$wheel" .; done
  mkdir include
  for folder in nvidia/*/include; do cp -r "$folder/." include; done
  rm -rf nvidia ./*.whl ./*.dist-info
}

case ${1:-12} in
  12) folder=$(fetch_once cuda-headers-12.9-nvml pypi.org unpack nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-nvtx-cu12==12.9.79 nvidia-nvml-dev-cu12==12.9.79) ;;
  13) folder=$(fetch_once cuda-headers-13.5 pypi.org unpack nvidia-cuda-runtime==13.5.37 nvidia-cuda-crt==13.5.37) ;;
  *) fail "headers.sh: no CUDA $1" ;;
esac
printf '%s/include\n' "$folder"
