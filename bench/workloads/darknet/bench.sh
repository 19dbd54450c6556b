#!/usr/bin/env bash
# Builds darknet with and without the plugin, for bench/run.py. Prints the command that runs each build, as a line
# `plain: …` and a line `instrumented: …`.
#   usage: bench.sh BUILD_DIR
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
"$here/build.sh" "$1/workloads/darknet-plain" >&2
"$here/build.sh" "$1/workloads/darknet-instrumented" "$1/lib/msleaks/llvm-22/libMemPass.so" >&2
for kind in plain instrumented; do
  folder=$1/workloads/darknet-$kind
  echo "$kind: $folder/darknet speed $folder/cfg/cifar.cfg 40"
done
