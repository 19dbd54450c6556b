#!/usr/bin/env bash
# Everything a newcomer types: installs what is missing, builds, runs all tests, and ends with the line
# `N passed, N failed` (`, N skipped`). Exit status 1 when something failed.
#
#   scripts/test.sh [--quick] [suite...]      suites: release asan fuzz tsan; all of them unless some are named
#     --quick   only the release suite, without whole runs (label e2e): they compile, fetch and kill, and take most of the time
#   FUZZ_SECONDS=N   how long each fuzz target runs (10)
#   JOBS=N           how many things at once (as many as there are processors)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

fuzz_seconds=${FUZZ_SECONDS:-10}
quick=
suites=()
for argument; do
  case "$argument" in
    --quick) quick=1 ;;
    release | asan | fuzz | tsan) suites+=("$argument") ;;
    *) fail "test.sh: unknown argument '$argument'; suites are release, asan, fuzz, tsan" 2 ;;
  esac
done
if ((${#suites[@]} == 0)); then
  suites=(release)
  [[ $quick ]] || suites+=(asan fuzz tsan)
fi

results=$repository/build/test-results
mkdir -p "$results"
rm -f "$results"/*.xml

# The asan suite runs the tests of the analysis' logic; to build and run them in the release suite, too, takes minutes.
logic=ON
[[ " ${suites[*]} " != *' asan '* ]] || logic=OFF

# What is told about a suite is on the terminal at once; what its tests printed only when they fail, at the very end.
run_suite() { # NAME PRESET BUILD-TARGETS CTEST-OPTIONS...
  local name=$1 preset=$2 targets=$3
  shift 3
  local begin=$SECONDS
  say "== $name: build"
  # shellcheck disable=SC2086 # several targets
  if ! "$repository/scripts/build.sh" "$preset" $targets; then
    say "== $name: does not build"
    return
  fi
  say "== $name: test (built in $((SECONDS - begin)) s)"
  begin=$SECONDS
  ctest --test-dir "$repository/build/$preset" --output-junit "$results/$name.xml" --output-on-failure \
    --parallel "$jobs" --timeout 600 --no-tests=error "$@" </dev/null 2>&1 | tee "$results/$name.log" |
    { grep --line-buffered -E '^ *[0-9]+/[0-9]+ ' || true; } | show_progress "$name tests" ||
    [[ -s $results/$name.xml ]] || tail -n 200 "$results/$name.log"
  say "== $name: tested in $((SECONDS - begin)) s"
}

export MSLEAKS_FUZZ_SECONDS=$fuzz_seconds
"$repository/scripts/setup.sh"
for suite in "${suites[@]}"; do
  case "$suite" in
    release)
      MSLEAKS_CONFIGURE=-DMSLEAKS_BUILD_LOGIC_TESTS=$logic run_suite release release "" ${quick:+-LE e2e} ;;
    asan) run_suite asan asan "" -LE fuzz ;;
    fuzz) run_suite fuzz asan "" -L fuzz ;;
    tsan)
      # Rings, collector, hooks. The runs are recorded and read by the programs of the release build.
      "$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks &&
        run_suite tsan tsan "runtime_test runtime_collected_test collect_test driver_hooks" -L threads ;;
  esac
done

say "== summary"
cd "$results"
exec python3 "$repository/scripts/count_tests.py" "${suites[@]/%/.xml}"
