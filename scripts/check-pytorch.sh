#!/usr/bin/env bash
# Runs examples/pytorch, examples/frameworks and the mistakes of torch_faults_test.py, torch_peaks_test.py and
# torch_compile_test.py under msleaks-run, and checks the reports. The current releases of PyTorch, Hugging Face transformers, PyTorch Lightning and
# Jupyter are used. test.sh does not run this script: it tests Debian's PyTorch 1.13.
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

# The second environment finds PyTorch in the first one.
install_frameworks() {
  /usr/bin/python3 -m venv --copies .
  "$environment/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$(bin/python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pytorch.pth"
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check 'transformers[torch]' lightning pandas nbconvert ipykernel
}

"$repository/scripts/setup.sh"
"$repository/scripts/build.sh"
environment=$(fetch_once "pytorch${1:+-$1}" pypi.org install_pytorch)
frameworks=$(fetch_once "frameworks${1:+-$1}" pypi.org install_frameworks)
cd "$repository/test/e2e/programs"
python3 -B pytorch_test.py "$build_folder" "$build_folder/check-pytorch" "$environment/bin/python3"
python3 -B torch_backward_test.py "$build_folder" "$build_folder/check-backward" "$environment/bin/python3"
python3 -B torch_faults_test.py "$build_folder" "$build_folder/check-faults" "$environment/bin/python3"
python3 -B torch_peaks_test.py "$build_folder" "$build_folder/check-peaks" "$environment/bin/python3"
python3 -B torch_compile_test.py "$build_folder" "$build_folder/check-compile" "$environment/bin/python3"
exec python3 -B frameworks_test.py "$build_folder" "$build_folder/check-frameworks" "$frameworks/bin/python3"
