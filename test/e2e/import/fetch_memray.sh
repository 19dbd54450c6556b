#!/usr/bin/env bash
# Prints the path of a Python interpreter that has memray. Exits with 77 if there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"
memray=1.20.0

install_memray() {
  python3 -m venv --copies .
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check "memray==$memray"
}

echo "$(fetch_once "memray-$memray" pypi.org install_memray)/bin/python3"
