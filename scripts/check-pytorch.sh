#!/usr/bin/env bash
# Runs examples/pytorch/train.py with the current PyTorch release under msleaks-run, and checks the report. test.sh does
# not run this script: it tests Debian's PyTorch 1.13.
#
# If the CPU-only wheels of download.pytorch.org cannot be reached, the script uses PyPI's wheels. These contain CUDA's
# libraries: 3 GB to download and 7 GB on the disk.
#
#   scripts/check-pytorch.sh [version]     the newest release, unless a version is given
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../bench/workloads/fetch.sh"

version=${1:+==$1}
cpu_index=https://download.pytorch.org/whl/cpu

install_pytorch() {
  /usr/bin/python3 -m venv --copies .
  local index=()
  if curl -sfI -m 10 "$cpu_index/torch/" >/dev/null; then
    index=(--index-url "$cpu_index" --extra-index-url https://pypi.org/simple)
  fi
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check "${index[@]}" "torch$version" numpy
}

"$repository/scripts/setup.sh"
"$repository/scripts/build.sh"
environment=$(fetch_once "pytorch${1:+-$1}" pypi.org install_pytorch)
exec python3 "$repository/test/e2e/programs/pytorch_test.py" "$build_folder" "$build_folder/check-pytorch" "$environment/bin/python3"
