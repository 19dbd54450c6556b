#!/usr/bin/env bash
# Runs clang-tidy-22 with the checks of .clang-tidy on the changed sources.
#
#   scripts/check-tidy.sh [COMMIT]     checks sources that differ from COMMIT (default: the commit before HEAD)
#   scripts/check-tidy.sh --all        checks all sources that the build compiles
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v clang-tidy-22 >/dev/null || skip "no clang-tidy-22: run scripts/setup.sh"
cd "$repository"
base=${1:-HEAD~1}
build=$repository/build/tidy
# Sources are not joined, because a joined source has no compile command of its own. Headers are not precompiled,
# because the script builds nothing, so clang-tidy would not find them.
cmake -S "$repository" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang-22 \
  -DCMAKE_CXX_COMPILER=clang++-22 -DMSLEAKS_JOIN_SOURCES=OFF -DMSLEAKS_PRECOMPILE=OFF -Wno-dev --log-level=WARNING >/dev/null
if [[ $base == --all ]]; then
  mapfile -t changed < <(git ls-files '*.cpp')
else
  git rev-parse --quiet --verify "$base^{commit}" >/dev/null || fail "check-tidy: there is no commit '$base'" 2
  mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- '*.cpp')
fi
# Only sources with a compile command are checked. Test programs, and sources for another LLVM, have no compile command.
mapfile -t sources < <(for source in "${changed[@]}"; do
  grep -qF "\"file\": \"$repository/$source\"" "$build/compile_commands.json" && printf '%s\n' "$source"
done)
((${#sources[@]} > 0)) || { say "check-tidy: no source was changed"; exit; }
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$jobs" nice clang-tidy-22 --quiet -p "$build" --warnings-as-errors='*'
say "check-tidy: ${#sources[@]} sources hold"
