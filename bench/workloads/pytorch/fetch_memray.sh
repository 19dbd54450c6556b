#!/usr/bin/env bash
# Prints the path of a Python interpreter that can import memray, and also the PyTorch of the system's Python. Exit
# status 77: skipped, there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
version=1.20.0

install_memray() {
  /usr/bin/python3 -m venv --copies --system-site-packages .
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check "memray==$version"
}

echo "$(fetch_once "memray-$version" pypi.org install_memray)/bin/python3"
