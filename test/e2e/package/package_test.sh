#!/usr/bin/env bash
# Installs msleaks, moves the installation elsewhere, and uses it as a stranger would: a CMake project with
# find_package(msleaks), and the compiler wrappers.   usage: package_test.sh BUILD_DIR LLVM_VERSION
set -euo pipefail
build=$1 llvm=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CC=clang-$llvm CXX=clang++-$llvm

expect() { # expect WHAT COMMAND...: the command succeeds, or the test ends here saying what was expected
  local what=$1
  shift
  "$@" || { echo "FAILED: $what: $*" >&2; exit 1; }
}

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved
for program in msleaks msleaks-run msleaks-clang msleaks-clang++; do
  expect "bin/$program is installed" test -x "$prefix/bin/$program"
done

echo "== find_package"
cmake -G Ninja -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
cmake --build "$work/consumer" >"$work/build.log"
expect "runs without msleaks" test "$("$work/consumer/consumer")" = "consumer ran"
(cd "$work" && "$prefix/bin/msleaks-run" -o "$work/RUN" -- "$work/consumer/consumer" >"$work/out.txt" 2>"$work/err.txt")
expect "same output under msleaks-run" grep -qx "consumer ran" "$work/out.txt"
status=0
"$prefix/bin/msleaks" report "$work/RUN" --json >"$work/report.json" || status=$?
expect "one finding" test $status -eq 1
python3 - "$work/report.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
sites = [row for row in report["leaks"]["by_site"] if row["site"]["file"] and row["site"]["file"].endswith("leaky.c")]
assert len(sites) == 1, report["leaks"]
row = sites[0]
assert (row["bytes"], row["count"]) == (4000, 1), row
assert row["site"]["line"] == 7 and row["site"]["type"] == "float" and row["site"]["variable"] == "cache->rows", row
assert report["events"]["produced"] == report["events"]["stored"] + report["events"]["dropped"], report["events"]
PY

echo "== a target not to be instrumented"
cmake -G Ninja -S "$here/consumer" -B "$work/plain" -DCMAKE_PREFIX_PATH="$prefix" -DMSLEAKS_INSTRUMENT=OFF >"$work/configure.log"
cmake --build "$work/plain" >"$work/build.log"
! "$prefix/bin/msleaks" sites "$work/plain/consumer" >/dev/null 2>"$work/err.txt"
expect "one clear line about an object without sites" test "$(wc -l <"$work/err.txt")" -eq 1

echo "== msleaks plugin"
expect "the plugin's path" test -r "$("$prefix/bin/msleaks" plugin --llvm "$llvm")"

echo "== wrappers"
unset CC CXX
export MSLEAKS_LLVM=$llvm
mkdir "$work/my project" && cd "$work/my project"
printf '#include <stdlib.h>\nvoid *keep;\nint main(void) { keep = malloc(8); return 0; }\n' >hello.c
expect "compiles and links in one step" "$prefix/bin/msleaks-clang" hello.c -o "hello world"
expect "has sites" "$prefix/bin/msleaks" sites "hello world"
cp hello.c conftest.c
expect "configure probes" "$prefix/bin/msleaks-clang" conftest.c -o conftest
! "$prefix/bin/msleaks" sites conftest >/dev/null 2>&1 || { echo "FAILED: a configure probe was instrumented" >&2; exit 1; }
expect "switched off" env MSLEAKS_WRAPPER=off "$prefix/bin/msleaks-clang" hello.c -o off
! "$prefix/bin/msleaks" sites off >/dev/null 2>&1 || { echo "FAILED: MSLEAKS_WRAPPER=off was ignored" >&2; exit 1; }
"$prefix/bin/msleaks-clang" -c missing.c 2>/dev/null && { echo "FAILED: the compiler's exit status is lost" >&2; exit 1; }
status=0
MSLEAKS_CLANG=/nowhere/clang "$prefix/bin/msleaks-clang" hello.c 2>"$work/err.txt" || status=$?
expect "a missing compiler is 127" test $status -eq 127
status=0
MSLEAKS_LLVM=3 MSLEAKS_CLANG=clang-$llvm "$prefix/bin/msleaks-clang" hello.c 2>"$work/err.txt" || status=$?
expect "a missing plugin is a usage error" test $status -eq 2
printf '#include <new>\nint *keep;\nint main() { keep = new int; }\n' >hello.cpp
expect "the C++ wrapper links libstdc++" "$prefix/bin/msleaks-clang++" -O2 hello.cpp -o hello++
expect "has sites" "$prefix/bin/msleaks" sites hello++
echo "package test passed"
