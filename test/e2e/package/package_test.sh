#!/usr/bin/env bash
# Installs msleaks and moves the installation to another folder. With the moved installation the test builds a CMake
# project, which calls find_package(msleaks), and calls the compiler wrappers.   usage: package_test.sh BUILD_DIR LLVM_VERSION
set -euo pipefail
build=$1 llvm=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CC=clang-$llvm CXX=clang++-$llvm

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

expect() { # expect WHAT COMMAND...: runs the command. If the command fails, the test prints WHAT and ends.
  local what=$1
  shift
  "$@" || fail "$what: $*"
}

expect_status() { # expect_status STATUS WHAT COMMAND...: like expect, for exit status STATUS. Writes out.txt and err.txt.
  local wanted=$1 what=$2 status=0
  shift 2
  "$@" >"$work/out.txt" 2>"$work/err.txt" || status=$?
  test $status -eq "$wanted" || { cat "$work/err.txt" >&2; fail "$what: exit status $status, not $wanted: $*"; }
}

expect_no_sites() { # expect_no_sites WHAT FILE: checks that `msleaks sites` finds no site in FILE and prints one line
  expect_status 3 "$1" "$prefix/bin/msleaks" sites "$2"
  expect "$1: one clear line" test "$(wc -l <"$work/err.txt")" -eq 1
}

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved
for program in msleaks msleaks-run msleaks-clang msleaks-clang++; do
  expect "bin/$program is installed" test -x "$prefix/bin/$program"
done
expect "the Python package is installed" env PYTHONPATH="$prefix/lib/python3/dist-packages" python3 -B -c 'import msleaks; msleaks.step()'

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
expect "what it says of itself" test "$("$prefix/bin/msleaks" dump "$work/RUN" --kind step,mark | grep -c -e ' number=1$' -e 'label="filling"')" -eq 2

echo "== a target not to be instrumented"
cmake -G Ninja -S "$here/consumer" -B "$work/plain" -DCMAKE_PREFIX_PATH="$prefix" -DMSLEAKS_INSTRUMENT=OFF >"$work/configure.log"
cmake --build "$work/plain" >"$work/build.log"
expect_no_sites "MSLEAKS_INSTRUMENT=OFF" "$work/plain/consumer"

echo "== a stripped library on its way to another machine"
strip "$work/consumer/libleaky.so" -o "$work/stripped.so"
"$prefix/bin/msleaks" sites "$work/stripped.so" --json >"$work/sites.json"
python3 - "$work/sites.json" <<'PY'
import json, sys
[site] = json.load(open(sys.argv[1]))
assert site["file"].endswith("consumer/leaky.c") and site["line"] == 7, site
assert (site["function"], site["callee"], site["type"], site["variable"]) == ("fill", "malloc", "float", "cache->rows"), site
PY

echo "== what a user's own options do"
cmake -G Ninja -S "$here/consumer" -B "$work/options" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS=-g0 \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$work/configure.log"
python3 - "$work/options/compile_commands.json" <<'PY'
import json, sys
commands = {entry["file"].rsplit("/", 1)[1]: entry["command"].split() for entry in json.load(open(sys.argv[1]))}
def level(file):
    return [word for word in commands[file] if word.startswith("-g")][-1]
assert all(any(word.startswith("-fpass-plugin=") for word in words) for words in commands.values()), commands
assert level("leaky.c") == "-g", commands
assert level("main.cpp") == "-g0", commands
assert level("elsewhere.cpp") == "-gline-tables-only", commands
PY
CC=gcc cmake -G Ninja -S "$here/consumer" -B "$work/mixed" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
cmake --build "$work/mixed" >"$work/build.log"
expect "C++ by clang has sites" "$prefix/bin/msleaks" sites "$work/mixed/consumer" >"$work/out.txt"
expect_no_sites "C by gcc has none" "$work/mixed/libleaky.so"
expect_status 1 "no clang at all" env CC=gcc CXX=g++ cmake -G Ninja -S "$here/consumer" -B "$work/none" -DCMAKE_PREFIX_PATH="$prefix"
expect "it says which compilers there are" grep -q "the C compiler is 'GNU'" "$work/err.txt"

echo "== links with LTO"
cmake -G Ninja -S "$here/consumer" -B "$work/lto" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="-O2 -flto=thin" -DCMAKE_C_FLAGS="-O2 -flto=thin" \
  -DCMAKE_EXE_LINKER_FLAGS="-fuse-ld=lld" -DCMAKE_SHARED_LINKER_FLAGS="-fuse-ld=lld" >"$work/configure.log"
cmake --build "$work/lto" --verbose >"$work/build.log"
expect "the compile knows of the link" grep -q 'MSLEAKS_LINK=on .*leaky' "$work/build.log"
expect "sites from the link" "$prefix/bin/msleaks" sites "$work/lto/libleaky.so" >"$work/out.txt"
expect "runs" test "$("$work/lto/consumer")" = "consumer ran"

echo "== a new plugin makes objects stale"
expect "nothing to do" grep -q "no work to do" <(cmake --build "$work/consumer")
touch "$prefix/lib/msleaks/llvm-$llvm/libMemPass.so"
expect "all three are compiled again" test "$(cmake --build "$work/consumer" | grep -c Building)" -eq 3

echo "== hooks of one's own"
if test "$llvm" = 22; then
  python3 -B "$here/../hooks/foreign_test.py" "$prefix" "$work/foreign" "$prefix/include" || fail "hooks against the installed headers"
fi

echo "== an analyzer of one's own"
if test "$llvm" = 22; then
  python3 -B "$here/../user/analyzer_test.py" "$prefix" "$work/analyzer" "$llvm" "$prefix/include" || fail "an analyzer against the installed headers"
fi
cmake -G Ninja -S "$here/../../../examples/analyzer" -B "$work/own" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
cmake --build "$work/own" >"$work/build.log"
expect_status 1 "with find_package" "$prefix/bin/msleaks" report "$work/RUN" --analyzer "$work/own/one_at_a_time.so"

echo "== msleaks plugin"
expect "the plugin's path" test "$("$prefix/bin/msleaks" plugin --llvm "$llvm")" = "$prefix/lib/msleaks/llvm-$llvm/libMemPass.so"
expect "the newest, unless told" test -r "$("$prefix/bin/msleaks" plugin)"
expect_status 2 "no plugin for LLVM 3" "$prefix/bin/msleaks" plugin --llvm 3
expect "one clear line" test "$(wc -l <"$work/err.txt")" -eq 1

echo "== wrappers"
unset CC CXX
export MSLEAKS_LLVM=$llvm
mkdir "$work/my project" && cd "$work/my project"
printf '#include <stdlib.h>\nvoid *volatile keep; // or a full link would delete it\nint main(void) { keep = malloc(8); return 0; }\n' >hello.c
expect "compiles and links in one step" "$prefix/bin/msleaks-clang" hello.c -o "hello world"
expect_sites() { # expect_sites WHAT FILE COMMAND...: runs the command and checks that `msleaks sites` finds sites in FILE
  local what=$1 file=$2
  shift 2
  expect "$what" "$@"
  expect_status 0 "$what: has sites" "$prefix/bin/msleaks" sites "$file"
}
expect_status 0 "has sites" "$prefix/bin/msleaks" sites "hello world"
expect "with their lines" grep -q 'hello.c:3' "$work/out.txt"
cp hello.c hello.inl
echo 'hello.c -o from_file' >arguments.rsp
clang=$prefix/bin/msleaks-clang
expect_sites "a source of another name" inl "$clang" -x c hello.inl -o inl
expect_sites "arguments in a file" from_file "$clang" @arguments.rsp
expect_sites "options that begin with -g" g "$clang" -gz -Xlinker -gc-sections hello.c -o g
expect "they do not take the debug information away" grep -q 'hello.c:3' "$work/out.txt"
expect "a -g of the user's wins" "$clang" -g0 -c hello.c -o g0.o
expect_status 1 "-g0 is none" grep -q debug_info <(readelf -S g0.o)
for lto in full thin; do
  expect "compiles for $lto LTO" "$clang" -Werror -flto=$lto -c hello.c -o hello.o
  expect_sites "links with $lto LTO" hello.$lto "$clang" -Werror -flto=$lto -fuse-ld="$("$clang" -print-prog-name=ld.lld)" hello.o -o hello.$lto
  lld=-fuse-ld=$("$clang" -print-prog-name=ld.lld)
  expect "compiles for a $lto link that rewrites" "$clang" -O2 -flto=$lto "$lld" -c hello.c -o hello.o
  expect_sites "rewrites in a $lto link" hello.$lto "$clang" -O2 -flto=$lto "$lld" hello.o -o hello.$lto
done
expect "nothing is said where nothing is compiled" "$clang" -Werror hello.c -E -o hello.i
expect_status 1 "and nothing is added" grep -q msl_ hello.i
cp hello.c conftest.c
expect "configure probes" "$clang" conftest.c -o conftest
expect_no_sites "a configure probe" conftest
expect "switched off" env MSLEAKS_WRAPPER=off "$clang" hello.c -o off
expect_no_sites "MSLEAKS_WRAPPER=off" off
expect_status 1 "the compiler's exit status" "$clang" -c missing.c
expect_status 127 "a missing compiler" env MSLEAKS_CLANG=/nowhere/clang "$clang" hello.c
expect_status 2 "a missing plugin is a usage error" env MSLEAKS_LLVM=3 MSLEAKS_CLANG=clang-$llvm "$clang" hello.c
printf '#include <new>\nint *keep;\nint main() { keep = new int; }\n' >hello.cpp
expect "the C++ wrapper links libstdc++" "$prefix/bin/msleaks-clang++" -O2 hello.cpp -o hello++
expect_status 0 "has sites" "$prefix/bin/msleaks" sites hello++

echo "== CMake with the wrappers"
CC=$clang CXX=$clang++ cmake --debug-trycompile -G Ninja -S "$here/consumer" -B "$work/wrapped" -DCMAKE_PREFIX_PATH="$prefix" \
  -DMSLEAKS_INSTRUMENT=OFF >"$work/configure.log" 2>&1
probes=$(find "$work/wrapped/CMakeFiles/CMakeScratch" -name '*.c.o')
expect "CMake has probed" test -n "$probes"
while read -r probe; do
  expect_no_sites "a probe of CMake's" "$probe"
done <<<"$probes"
cmake --build "$work/wrapped" >"$work/build.log"
expect_status 0 "what is built has sites" "$prefix/bin/msleaks" sites "$work/wrapped/libleaky.so"

echo "== an installation that was cut short"
: >"$prefix/lib/msleaks/llvm-$llvm/libMemPass.so"
expect_status 2 "an empty plugin" "$clang" hello.c
expect "one clear line" test "$(wc -l <"$work/err.txt")" -eq 1
expect_status 4 "an empty plugin has no path to print" "$prefix/bin/msleaks" plugin --llvm "$llvm"
expect "one clear line, too" test "$(wc -l <"$work/err.txt")" -eq 1
echo "package test passed"
