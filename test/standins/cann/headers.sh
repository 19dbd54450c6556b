#!/usr/bin/env bash
# Prints the folder with ACL's headers. Unpacks them once, from the package torch-npu on PyPI, which contains those of
# CANN. Exits with 77 if there are none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

unpack() {
  python3 -m pip download -q --no-deps --no-cache-dir --only-binary=:all: --python-version 3.11 --platform manylinux_2_28_x86_64 -d . torch-npu==2.14.0
  python3 -m zipfile -e ./*.whl whole
  mkdir include
  mv whole/torch_npu/include/acl include
  rm -rf whole ./*.whl
}

printf '%s/include\n' "$(fetch_once acl-headers-2.14 pypi.org unpack)"
