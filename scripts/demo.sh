#!/usr/bin/env bash
# Shows what msleaks says of a program with a mistake: builds everything, compiles examples/opencl_train with the plugin,
# and runs it under msleaks-run four times, as it should be and with each mistake planted.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$repository/scripts/setup.sh"
"$repository/scripts/build.sh" release
export PATH=$build_folder/bin:$PATH

demo=$repository/build/demo
example=$demo/opencl_train
mkdir -p "$demo"
shown() {
  printf '\n\033[1m$ %s\033[0m\n' "$*"
  "$@"
}

shown clang++-22 -std=c++20 -O2 -g "-fpass-plugin=$(msleaks plugin --llvm 22)" "$repository/examples/opencl_train/train.cpp" -lOpenCL -o "$example"
for plant in nothing leak early late; do
  options=(--steps 50)
  [[ $plant == nothing ]] || options+=(--plant "$plant")
  rm -rf "$demo/$plant"
  shown msleaks-run -o "$demo/$plant" -- "$example" "${options[@]}"
  shown msleaks report "$demo/$plant" || (($? == 1)) # 1: it has findings
done
say ""
say "The session folders are in $demo; try  $build_folder/bin/msleaks report $demo/leak --json"
