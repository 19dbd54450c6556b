#!/usr/bin/env bash
# Prints the path of CUDA's disassembler. Unpacks it once, from NVIDIA's package on PyPI. Exits with 77 if there is none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

unpack() {
  python3 -m pip download -q --no-deps --no-cache-dir -d . nvidia-cuda-nvdisasm==13.5.37
  python3 -m zipfile -e ./*.whl .
  mv nvidia/cu13/bin/nvdisasm .
  chmod +x nvdisasm
  rm -rf nvidia ./*.whl ./*.dist-info
}

printf '%s/nvdisasm\n' "$(fetch_once cuda-nvdisasm-13.5 pypi.org unpack)"
