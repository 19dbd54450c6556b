#!/usr/bin/env bash
# Configures and builds a CMake preset (default: release). Uses ccache if it is installed.
#
#   scripts/build.sh [preset] [targets...]
#   MSLEAKS_CONFIGURE=OPTIONS   more options for cmake; later runs in the same build folder use them, too
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

preset=${1:-release}
shift || true
launcher=()
if command -v ccache >/dev/null; then
  # With these settings, clones of the same sources share compiled results.
  export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cd "$repository"
# shellcheck disable=SC2086 # several options
cmake --preset "$preset" "${launcher[@]}" ${MSLEAKS_CONFIGURE:-} -Wno-dev --log-level=WARNING >/dev/null
cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"} | show_progress "build $preset"
