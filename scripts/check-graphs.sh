#!/usr/bin/env bash
# Checks counts of edges on real programs. All of ggml and darknet are built twice, with few counters and with one on each edge,
# and do the same work. Each edge has the same count, and the few are at most half of the others. Ends with a line for each
# program.
#
#   scripts/check-graphs.sh
#
# Not part of test.sh, whose tests graphs-truth do the same with small programs: this takes some minutes. Exit status: 1 = a count
# differs, or there are more counters; 77 = a source could not be had (no network).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$repository/scripts/setup.sh"
"$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks MemPass22
exec python3 -B "$repository/test/e2e/graphs/workloads_truth.py" "$build_folder" "$repository/build/check-graphs"
