#!/usr/bin/env bash
# Builds ten projects of other people as their authors do, with plain clang and with msleaks-clang. Runs the projects'
# own tests three times: plain, instrumented, and instrumented under msleaks-run. The results must be the same. At the
# end prints a table.
#
#   scripts/check-projects.sh [project...]     all, unless some are named
#   MSLEAKS_LLVM=22    version of clang
#   JOBS=N             number of compilers that run at once (default: the number of processors)
#
# The script takes a quarter of an hour, so test.sh does not run it. Builds and logs stay in build/projects until the
# next run. Exit status 1: a result differs, or a build or a test fails. Exit status 77: some projects could not be
# downloaded (no network), and all other projects passed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../bench/workloads/fetch.sh"
source "$repository/scripts/projects.sh"

llvm=${MSLEAKS_LLVM:-22}
work=$repository/build/projects
export MSLEAKS_LLVM=$llvm AR=llvm-ar-$llvm RANLIB=llvm-ranlib-$llvm

compiler() { # KIND: exports CC and CXX
  if [[ $1 == plain ]]; then
    export CC=clang-$llvm CXX=clang++-$llvm
  else
    export CC=$build_folder/bin/msleaks-clang CXX=$build_folder/bin/msleaks-clang++
  fi
}

# Prints shell code that runs a function of projects.sh and ends at the first error.
in_shell() { # FUNCTION
  declare -f "$1"
  declare -f with_cmake run_ctest || true
  printf 'set -euo pipefail; jobs=%q llvm=%q; %s\n' "$jobs" "$llvm" "$1"
}

build() { # PROJECT KIND SOURCE
  local folder=$work/$1/$2
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -r --no-preserve=ownership "$3/." "$folder"
  (
    compiler "$2"
    cd "$folder"
    bash -c "$(in_shell "build_$1")"
  ) >"$work/$1/build-$2.log" 2>&1 </dev/null
}

# Runs the tests of a project. Writes the result lines of their output, without times, to $work/PROJECT/MODE.result. The
# last line of this file is the exit status.
run_tests() { # PROJECT MODE KIND PREFIX...
  local project=$1 mode=$2 kind=$3 status=0
  shift 3
  (
    cd "$work/$project/$kind"
    "$@" bash -c "$(in_shell "test_$project")"
  ) >"$work/$project/$mode.log" 2>&1 </dev/null || status=$?
  sed -E 's/[0-9]+\.[0-9]+ *s(ec(onds)?)?\b//g; s/ +/ /g' "$work/$project/$mode.log" |
    grep -E "${results[$project]}" >"$work/$project/$mode.result" || true
  printf 'exit status %s\n' "$status" >>"$work/$project/$mode.result"
}

# Prints one line about the recording. Fails if produced events are neither stored nor dropped, or if no event has a
# site of the plugin. If no event has such a site, hooks alone recorded the project. The report's exit status may be 1,
# which means that there are findings.
account() { # FOLDER
  local at_sites
  at_sites=$("$build_folder/bin/msleaks" dump "$1" --json | python3 -c '
import re, sys
numbers = (int(found[1]) for found in map(re.compile(r"\"site_number\":(\d+)").search, sys.stdin) if found)
print(sum(0 < number < 1 << 30 for number in numbers))')
  { "$build_folder/bin/msleaks" report "$1" --json || (($? == 1)); } | python3 -c '
import json, sys
report, at_sites = json.load(sys.stdin), int(sys.argv[1])
events = report["events"]
complete = "complete" if report["session"]["complete"] else "not complete"
print("{:,} events ({:,} at sites), {} processes, {}".format(events["produced"], at_sites, len(report["processes"]), complete))
sys.exit(0 if events["produced"] == events["stored"] + events["dropped"] and at_sites else 1)' "$at_sites"
}

# Checks one project. If a check fails, prints the reason to stdout and returns 1.
check_project() { # PROJECT
  local project=$1 package source kind began=$SECONDS status=0
  read -ra package <<<"${packages[$project]}"
  source=$(fetch_once "upstream-$project" "$debian_host" debian_upstream "${package[@]}" 2>"$work/$project.fetch")/source || status=$?
  if ((status != 0)); then
    tail -n 1 "$work/$project.fetch"
    return "$status"
  fi
  for kind in plain marked; do
    say "   $project: build $kind" >&2
    build "$project" $kind "$source" || {
      echo "$kind: does not build, see $work/$project/build-$kind.log"
      return 1
    }
  done
  local run=$work/$project/run
  rm -rf "$run"
  say "   $project: test plain, instrumented, under msleaks-run" >&2
  run_tests "$project" plain plain
  run_tests "$project" unarmed marked
  run_tests "$project" armed marked "$build_folder/bin/msleaks-run" --no-report -o "$run" --
  local recorded lines mode
  lines=$(wc -l <"$work/$project/plain.result")
  for mode in unarmed armed; do
    cmp -s "$work/$project/plain.result" "$work/$project/$mode.result" || {
      echo "$mode: other results, see $work/$project/{plain,$mode}.log"
      return 1
    }
  done
  grep -q '^exit status 0$' "$work/$project/plain.result" || {
    echo "its tests fail plain, too, see $work/$project/plain.log"
    return 1
  }
  ((lines > 1)) || {
    echo "no results in $work/$project/plain.log"
    return 1
  }
  recorded=$(account "$run") || {
    echo "the account does not add up: $recorded"
    return 1
  }
  echo "$(<"$source/../version"): the same $((lines - 1)) results; $recorded; $((SECONDS - began)) s"
}

(($#)) || set -- "${projects[@]}"
"$repository/scripts/build.sh" release msleaks msleaks_run msleaks_hooks msleaks_clang msleaks_clangxx "MemPass$llvm"
mkdir -p "$work"
failed=0 skipped=0 table=()
number=0
for project; do
  [[ ${packages[$project]:-} ]] || fail "check-projects.sh: no project '$project'; there are ${projects[*]}" 2
  number=$((number + 1))
  say "== $number of $#: $project (${kinds[$project]})"
  status=0
  said=$(check_project "$project") || status=$?
  case $status in
    0) word=passed ;;
    77) word=skipped skipped=$((skipped + 1)) ;;
    *) word=FAILED failed=$((failed + 1)) ;;
  esac
  say "   $word: $said"
  table+=("$(printf '%-11s %-32s %-8s %s' "$project" "${kinds[$project]}" "$word" "$said")")
done

say "== $(($# - failed - skipped)) passed, $failed failed, $skipped skipped"
printf '%s\n' "${table[@]}"
((failed == 0)) || exit 1
((skipped == 0)) || exit 77
