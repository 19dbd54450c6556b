#!/usr/bin/env bash
# Checks the counts of edges on real programs. Builds ggml and darknet twice: with counters only outside a spanning
# tree, and with a counter on each edge. In both builds, each edge must have the same count. The first build must have
# at most half as many counters. At the end prints a line for each program.
#
#   scripts/check-graphs.sh
#
# The script takes several minutes, so test.sh does not run it. The tests graphs-truth of test.sh make the same checks
# with small programs. Exit status: 1 = a count differs, or there are too many counters; 77 = a source could not be
# fetched (no network).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$repository/scripts/setup.sh"
"$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks MemPass22
exec python3 -B "$repository/test/e2e/graphs/workloads_truth.py" "$build_folder" "$repository/build/check-graphs"
