#!/usr/bin/env bash
# Builds the Python wheel: the package msleaks with the programs msleaks and msleaks-run, the runtime and the hooks. The
# wheel contains no compiler plugin, and needs no clang. Prints the path of the wheel.
#
#   scripts/wheel.sh [FOLDER]     writes dist/msleaks-VERSION-py3-none-PLATFORM.whl, or into FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$repository/scripts/build.sh" wheel msleaks msleaks_run msleaks_hooks ascend_kernel_hook >&2
exec python3 -B "$repository/scripts/pack_wheel.py" "$repository" "$repository/build/wheel" "${1:-$repository/dist}"
