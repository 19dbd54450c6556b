#!/usr/bin/env bash
# Builds the plugin for the LLVM of a given CMake package, and runs the lit tests with the tools of this LLVM.
#
#   scripts/check-llvm.sh [LLVM_DIR]     default: /usr/lib/llvm-16/lib/cmake/llvm, the oldest supported LLVM
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

llvm_dir=${1:-/usr/lib/llvm-16/lib/cmake/llvm}
[[ -r $llvm_dir/LLVMConfig.cmake ]] || skip "no LLVMConfig.cmake in $llvm_dir"
build=$repository/build/llvm-$(sed -n 's/^set(LLVM_VERSION_MAJOR \([0-9]*\))$/\1/p' "$llvm_dir/LLVMConfig.cmake")
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$repository" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "${launcher[@]}" -DLLVM_DIR="$llvm_dir" \
  -DMSLEAKS_LLVM_VERSIONS= -DMSLEAKS_BUILD_BENCH=OFF -DMSLEAKS_PRECOMPILE=OFF -Wno-dev --log-level=WARNING >/dev/null
LIT_OPTS="-j $jobs" cmake --build "$build" --parallel "$jobs" --target check-lit -- --quiet
