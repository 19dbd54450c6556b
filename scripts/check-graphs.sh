#!/usr/bin/env bash
# Checks counts of edges on real programs. Builds ggml and darknet twice, with few counters and with one on each edge,
# and lets both do the same work. Checks that each edge has the same count, and that few counters are at most half as
# many. Ends with a line for each program.
#
#   scripts/check-graphs.sh
#
# This takes some minutes, so test.sh does not run it. The tests graphs-truth of test.sh do the same with small
# programs. Exit status: 1 = a count differs, or there are too many counters; 77 = a source could not be fetched (no
# network).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$repository/scripts/setup.sh"
"$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks MemPass22
exec python3 -B "$repository/test/e2e/graphs/workloads_truth.py" "$build_folder" "$repository/build/check-graphs"
