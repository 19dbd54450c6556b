#!/usr/bin/env bash
# Prints the path of a Python interpreter that can import LNT's classes for profiles. Exits with 77 if there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"
version=0.4.20

# Installs LNT without its dependencies, since only LNT's server needs them.
install_lnt() {
  python3 -m venv --copies .
  bin/python3 -m pip install -q --no-cache-dir --disable-pip-version-check --no-deps "llvm-lnt==$version"
}

echo "$(fetch_once "lnt-$version" pypi.org install_lnt)/bin/python3"
