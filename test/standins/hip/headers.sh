#!/usr/bin/env bash
# Prints the folder with HIP's own headers. Unpacks them once, from Debian's packages. Exits with 77 if there are none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../bench/workloads/fetch.sh"

printf '%s/usr/include\n' "$(fetch_once hip-headers "$debian_host" debian_package libamdhip64-dev)"
