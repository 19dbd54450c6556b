#!/usr/bin/env bash
# Prints the folder of HIP's own headers, from Debian's packages, unpacked once. Exits with 77 without them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

printf '%s/usr/include\n' "$(fetch_once hip-headers "$debian_host" debian_package libamdhip64-dev)"
