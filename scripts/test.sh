#!/usr/bin/env bash
# Installs missing packages, builds msleaks, and runs its tests. The last line is `N passed, N failed` (`, N skipped`).
# Exit status 1: a test failed, or a suite does not build.
#
#   scripts/test.sh                  the release suite: every unit test once, lit on both LLVMs, whole runs on the newest
#   scripts/test.sh SUITE...         release, asan (parts that read files), fuzz (corpora, 2 s a target), tsan (threads)
#   scripts/test.sh --quick          the release suite without whole runs
#   scripts/test.sh --unit FOLDER    the tests of test/unit/FOLDER, lit or e2e/FOLDER alone; may be repeated
#   scripts/test.sh --since REVISION the tests that the changes since REVISION can break
#
#   --deep           also runs the tests of test/deep_tests.txt; asan runs every test that it can
#   --times          prints the ten slowest tests at the end
#   FUZZ_SECONDS=N   how long each fuzz target runs (2)
#   JOBS=N           how many compilers or tests run at once (as many as there are processors)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export MSLEAKS_FUZZ_SECONDS=${FUZZ_SECONDS:-2}
deep_tests=$repository/test/deep_tests.txt
# The parts that read files of other programs: traces, objects, debug information, profiles, graphs, baselines, rows
# files.
foreign_bytes=(trace/all places/all profiles/all graphs/all check/all doctor/all importers/all passes/all)
foreign_tests='^(trace|places|profiles|graphs|check|doctor|importers)\.|^RowsFile'
suites=() folders=() quick='' deep='' times=''
while (($#)); do
  case "$1" in
    --quick) quick=1 ;;
    --deep) deep=1 ;;
    --times) times=--times ;;
    --unit)
      (($# > 1)) || fail "test.sh: --unit needs the name of a folder of test/unit, lit, or e2e/FOLDER" 2
      folders+=("$2")
      shift
      ;;
    --since)
      (($# > 1)) || fail "test.sh: --since needs a revision, such as main" 2
      changed=$(python3 -B "$repository/scripts/affected_tests.py" "$repository" "$2") || exit 2
      mapfile -t affected <<<"$changed"
      [[ ! $changed ]] || folders+=("${affected[@]}")
      [[ $changed ]] || { say "test.sh: no change since $2 can break a test"; exit 0; }
      shift
      ;;
    release | asan | fuzz | tsan) suites+=("$1") ;;
    *) fail "test.sh: unknown argument '$1'; suites are release, asan, fuzz, tsan" 2 ;;
  esac
  shift
done
((${#suites[@]} || ${#folders[@]})) || suites=(release)

results=$repository/build/test-results
mkdir -p "$results"
rm -f "$results"/*.xml
written=()

# Prints a regular expression for the tests that only a deep check runs. Their names are the first words of the lines in
# test/deep_tests.txt.
left_out() { sed -E '/^(#|$)/d; s/ .*//' "$deep_tests" | paste -sd '|'; }

# Runs the tests of a suite and prints their progress. The output of failed tests is printed at the end.
run_tests() { # NAME FOLDER CTEST-OPTIONS...
  local name=$1 folder=$2 begin=$SECONDS
  shift 2
  written+=("$name.xml")
  ctest --test-dir "$folder" --output-junit "$results/$name.xml" --output-on-failure \
    --parallel "$jobs" --timeout 600 --no-tests=error "$@" </dev/null 2>&1 | tee "$results/$name.log" |
    { grep --line-buffered -E '^ *[0-9]+/[0-9]+ ' || true; } | show_progress "$name tests" ||
    [[ -s $results/$name.xml ]] || tail -n 200 "$results/$name.log"
  say "== $name: tested in $((SECONDS - begin)) s"
}

build_suite() { # NAME PRESET TARGETS...
  local name=$1 preset=$2 begin=$SECONDS
  shift 2
  say "== $name: build"
  if ! "$repository/scripts/build.sh" "$preset" "$@"; then
    say "== $name: does not build"
    written+=("$name.xml") # the file does not exist, so the suite counts as failed
    return 1
  fi
  say "== $name: built in $((SECONDS - begin)) s"
}

run_suite() { # NAME
  local -a shallow=() whole_runs=()
  [[ $deep ]] || shallow=(-E "$(left_out)")
  [[ $deep ]] || whole_runs=(-LE e2e)
  case "$1" in
    release)
      build_suite release release all ${deep:+bench} && run_tests release "$build_folder" "${shallow[@]}" ${quick:+-LE e2e} ;;
    asan)
      if [[ $deep ]]; then
        build_suite asan asan && run_tests asan "$repository/build/asan" -LE fuzz
      else
        build_suite asan asan "${foreign_bytes[@]/#/test/unit/}" && run_tests asan "$repository/build/asan" -R "$foreign_tests"
      fi ;;
    fuzz)
      build_suite fuzz asan fuzzers && run_tests fuzz "$repository/build/asan" -L fuzz ;;
    tsan) # tests rings, collector, hooks; programs of the release build record and read the runs
      build_suite tsan release msleaks msleaks_run msleaks_hooks &&
        build_suite tsan tsan runtime_test runtime_collected_test collect_test ${deep:+driver_hooks} &&
        run_tests tsan "$repository/build/tsan" -L threads "${whole_runs[@]}" ;;
  esac
}

# Builds the tests of a folder and the programs that these tests run, and runs the tests.
run_folder() { # FOLDER
  local folder=$1 name=${1//\//-}
  local -a targets
  case "$folder" in
    lit | e2e/*) targets=("test/$folder/all" passes/all runtime/all hooks/all tools/all driver/all) ;;
    *) folder=unit/$folder targets=("test/unit/$1/all") ;;
  esac
  [[ -f $repository/test/$folder/CMakeLists.txt ]] || fail "test.sh: there is no test/$folder: name a folder of test/unit, lit, or e2e/FOLDER" 2
  build_suite "$name" release "${targets[@]}" && run_tests "$name" "$build_folder/test/$folder" -E "$(left_out)"
}

if ((${#folders[@]} && !${#suites[@]})); then
  "$repository/scripts/setup.sh" --build
else
  "$repository/scripts/setup.sh"
fi
export MSLEAKS_CONFIGURE="-DMSLEAKS_BUILD_TESTS=ON ${MSLEAKS_CONFIGURE:-}"
for suite in "${suites[@]}"; do
  run_suite "$suite" || true
done
for folder in "${folders[@]}"; do
  run_folder "$folder" || true
done

say "== summary"
cd "$results"
exec python3 -B "$repository/scripts/count_tests.py" $times "${written[@]}"
