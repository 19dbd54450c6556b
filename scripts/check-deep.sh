#!/usr/bin/env bash
# Runs the checks that scripts/test.sh does not run, except check-aarch64.sh and check-cuda.sh. All this takes hours.
# The last line gives the numbers of parts that passed, failed and were skipped.
#
#   scripts/check-deep.sh [part...]     all, unless some are named:
#                                       tests alone tidy packages wheel pythons llvm16 bench frameworks paths graphs projects
#
# The part `tests` runs the tests of test/deep_tests.txt, all tests under sanitizers, and each fuzz target for a minute.
# It kills a program, its collector, or both, 50 times each. `alone` compiles each source alone, `tidy` checks changed
# sources by clang-tidy, and `packages` installs the Debian packages. `wheel` installs the Python wheel, `pythons` tests
# newer Pythons in a Debian sid, and `llvm16` tests the oldest LLVM. The other parts run benchmarks, real programs, and
# projects of other people.
#
# Exit status 1: a part failed.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

all=(tests alone tidy packages wheel pythons llvm16 bench frameworks paths graphs projects)
parts=("$@")
((${#parts[@]})) || parts=("${all[@]}")
scripts=$repository/scripts

# Compiles each source alone, with g++ and without precompiled headers. So a source that lacks an include fails,
# although it compiles when it is joined with other sources.
compile_alone() {
  cmake -S "$repository" -B "$repository/build/alone" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    -DMSLEAKS_JOIN_SOURCES=OFF -DMSLEAKS_PRECOMPILE=OFF -Wno-dev --log-level=WARNING >/dev/null &&
    "$scripts/check-alone.py" "$repository/build/alone"
}

run_part() {
  case "$1" in
    tests)
      MSLEAKS_CONFIGURE='-DMSLEAKS_KILLS=50 -DMSLEAKS_KILL_SEED=' FUZZ_SECONDS=60 "$scripts/test.sh" --deep --times release asan fuzz tsan ;;
    alone) compile_alone ;;
    tidy) "$scripts/check-tidy.sh" ;;
    packages) "$scripts/check-packages.sh" ;;
    wheel) "$scripts/check-wheel.sh" ;;
    pythons) "$scripts/check-pythons.sh" ;;
    llvm16) "$scripts/check-llvm.sh" ;;
    bench) "$scripts/build.sh" release all bench && python3 -B "$repository/bench/run.py" --check ;;
    frameworks) "$scripts/check-pytorch.sh" ;;
    paths) "$scripts/check-paths.sh" ;;
    graphs) "$scripts/check-graphs.sh" ;;
    projects) "$scripts/check-projects.sh" ;;
    *) fail "check-deep.sh: unknown part '$1'; parts are ${all[*]}" 2 ;;
  esac
}

"$scripts/setup.sh" --deep || exit
held=0 skipped=0 failed=()
for part in "${parts[@]}"; do
  begin=$SECONDS status=0
  (run_part "$part") || status=$?
  case $status in
    0) held=$((held + 1)) result=holds ;;
    2) exit 2 ;;
    77) skipped=$((skipped + 1)) result='skipped, see above' ;;
    *) failed+=("$part") result=FAILED ;;
  esac
  say "== $part: $result, $((SECONDS - begin)) s"
done
((${#failed[@]} == 0)) || say "failed: ${failed[*]}"
printf '%s passed, %s failed, %s skipped\n' "$held" "${#failed[@]}" "$skipped"
((${#failed[@]} == 0))
