#!/usr/bin/env bash
# Tests the lines of Python with the newest versions of CPython that Debian has, and that this machine does not have.
# They run in a Debian sid, with msleaks from build/release. Without root, mmdebstrap or the network, the script says
# that it made no Debian, and exits with status 77.
#
#   scripts/check-pythons.sh              Debian's newest versions
#   scripts/check-pythons.sh PYTHON...    these programs instead, for example python3.14t, built without the global lock
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$repository/scripts/fresh_debian.sh"

versions=(3.14 3.15)
topics=(frames modules interrupted finalizing recycled languages forking results containers objects unlocked starters)
build=$repository/build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# Copies msleaks, its tests, and the libraries that it needs besides those of every Debian.
copy_msleaks() {
  mkdir -p "$root/msleaks/build/bin" "$root/msleaks/build/lib" "$root/msleaks/test"
  cp "$build"/bin/{msleaks,msleaks-run} "$root/msleaks/build/bin/"
  cp "$build"/lib/*.so "$root/msleaks/build/lib/"
  cp -r "$repository/test/e2e" "$root/msleaks/test/"
  cp -r "$repository/tools" "$root/msleaks/"
  ldd "$build"/bin/{msleaks,msleaks-run} | awk '$3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libz|libstdc\+\+|libgcc_s)\.so' | xargs cp -L -t "$root/usr/local/lib/"
  inside "$root" ldconfig
}

# test_topics PYTHON TESTS COMMAND...: runs the tests, which are in the folder TESTS, by a command that takes a line of sh.
# A test exits with status 77 if it has nothing to test with this Python. Says how many topics failed.
test_topics() {
  local python=$1 tests=$2 failed=0 skipped=0 topic status
  shift 2
  for topic in "${topics[@]}"; do
    status=0
    "$@" "cd $tests/test/e2e/python && python3 -B ${topic}_test.py $tests/build $scratch/${python##*/}-$topic $python" \
      >"$work/log" 2>&1 || status=$?
    ((status == 77)) && skipped=$((skipped + 1)) && continue
    ((status == 0)) || { failed=$((failed + 1)) && say "check-pythons: $python $topic failed" && tail -n 5 "$work/log"; }
  done
  say "check-pythons: $("$@" "$python --version"): ${#topics[@]} topics, $failed failed, $skipped skipped"
  ((failed == 0))
}

"$repository/scripts/build.sh" release msleaks msleaks-run msleaks_rt_shared msleaks_hooks
status=0
if (($# != 0)); then
  scratch=$work/scratch
  mkdir -p "$work/here" && ln -s "$build" "$work/here/build" && ln -s "$repository/test" "$work/here/test"
  for python in "$@"; do
    test_topics "$(command -v "$python")" "$work/here" sh -euc || status=1
  done
  exit $status
fi
if ! debian_release=sid make_debian "$root" "$work/mmdebstrap.log" python3 "${versions[@]/#/python}" gcc libc6-dev; then
  [[ ! -s $work/mmdebstrap.log ]] || tail -5 "$work/mmdebstrap.log"
  say "check-pythons: no Debian sid can be made here"
  exit 77
fi
copy_msleaks
scratch=/scratch
for version in "${versions[@]}"; do
  test_topics "/usr/bin/python$version" /msleaks inside "$root" || status=1
done
exit $status
