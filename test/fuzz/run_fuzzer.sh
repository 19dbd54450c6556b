#!/bin/sh
# run_fuzzer.sh FUZZER: runs the fuzzer for MSLEAKS_FUZZ_SECONDS (60). The first inputs are from corpus/, if any exist.
set -eu
name=$(basename "$1")
seeds=$(dirname "$0")/corpus/$name
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/new"
[ -d "$seeds" ] || seeds=
"$1" -max_total_time="${MSLEAKS_FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="$work/" "$work/new" $seeds >"$work/log" 2>&1 && { tail -n 5 "$work/log"; exit 0; }
tail -n 40 "$work/log"
for input in "$work"/crash-* "$work"/timeout-* "$work"/oom-*; do
  [ -f "$input" ] && { echo "input, base64:"; base64 "$input"; }
done
exit 1
