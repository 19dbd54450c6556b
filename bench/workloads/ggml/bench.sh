#!/usr/bin/env bash
# Builds the transformer with and without the plugin, for bench/run.py. Prints the command that runs each build.
#   usage: bench.sh BUILD_DIR
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
"$here/build.sh" "$1/workloads/ggml-plain" >&2
"$here/build.sh" "$1/workloads/ggml-instrumented" "$1/lib/msleaks/llvm-22/libMemPass.so" >&2
for kind in plain instrumented; do
  echo "$kind: $1/workloads/ggml-$kind/transformer 200 1"
done
