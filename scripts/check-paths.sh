#!/usr/bin/env bash
# Compares call paths with those that libunwind finds, for at least 10,000 random allocations in several real programs.
# Both paths must be equal, or the path of msleaks must be marked as unfinished. At the end prints a table.
#
#   scripts/check-paths.sh [workload...]     darknet, ggml, python, luajit; all, unless some are named
#   MSLEAKS_SEED=N     selects other random allocations
#
# The script takes several minutes, so test.sh does not run it. The tests paths-* of test.sh make the same comparison
# with small programs that use exceptions, signal handlers, fibers and code generated at run time. Exit status: 1 = a
# path differs; 77 = a download failed (no network).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

install_missing check-paths libunwind-dev luajit python3-numpy
"$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks MemPass22 compare_paths
work=$repository/build/check-paths
if (($# == 0)); then
  python3 -B "$repository/test/e2e/paths/paths_test.py" "$build_folder" "$work/small"
fi
exec python3 -B "$repository/test/e2e/paths/workloads_test.py" "$build_folder" "$work" "$@"
