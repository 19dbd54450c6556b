#!/usr/bin/env bash
# Shows how msleaks finds mistakes in a program. Installs missing packages, builds msleaks with the plugin for LLVM 22,
# and compiles examples/opencl_train with it. Runs the program under msleaks-run without a mistake and with each planted
# mistake. At the end prints the first finding of each run.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

progress_seconds=${PROGRESS_SECONDS:-1}
"$repository/scripts/setup.sh" --demo
# If the build folder exists already, for example from scripts/test.sh, its CMake options stay unchanged.
if [[ ! -f $build_folder/CMakeCache.txt ]]; then
  export MSLEAKS_CONFIGURE="-DMSLEAKS_BUILD_TESTS=OFF -DMSLEAKS_BUILD_BENCH=OFF -DMSLEAKS_LLVM_VERSIONS=22"
fi
PROGRESS_SECONDS=$progress_seconds "$repository/scripts/build.sh" release MemPass22 msleaks msleaks_run msleaks_hooks
export PATH=$build_folder/bin:$PATH

demo=$repository/build/demo
example=$demo/opencl_train
mkdir -p "$demo"
shown() {
  printf '\n\033[1m$ %s\033[0m\n' "$*"
  "$@"
}

# Prints the title of a run's first finding, unless this finding is a hint.
first_finding() { { msleaks report "$demo/$1" --section findings --width 200 || true; } | sed -n 's/^1\.  //p' | { grep -v '(hint)$' || true; }; }

shown clang++-22 -std=c++20 -O2 -g "-fpass-plugin=$(msleaks plugin --llvm 22)" "$repository/examples/opencl_train/train.cpp" -lOpenCL -o "$example"
plants=(nothing leak early late)
for plant in "${plants[@]}"; do
  options=(--steps 50)
  [[ $plant == nothing ]] || options+=(--plant "$plant")
  rm -rf "$demo/$plant"
  shown msleaks-run --no-report -o "$demo/$plant" -- "$example" "${options[@]}"
done
shown msleaks report "$demo/leak" || (($? == 1)) # status 1: the report has findings

printf '\n\033[1m%s\033[0m\n' "What msleaks found in $(basename "$example")"
for plant in "${plants[@]}"; do
  found=$(first_finding "$plant")
  printf '  %-8s %s\n' "$plant" "${found:-no finding, hints at most}"
done
say "Each run is a folder in $demo. Look at one with"
say "  $build_folder/bin/msleaks report $demo/early"
