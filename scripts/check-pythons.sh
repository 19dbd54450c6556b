#!/usr/bin/env bash
# Tests the lines of Python with the newest versions of CPython that Debian has, and that this machine does not have.
# They run in a Debian sid, with msleaks from build/release. Without root, mmdebstrap or the network, the script says
# that it made no Debian, and exits with status 77.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$repository/scripts/fresh_debian.sh"

versions=(3.14 3.15)
topics=(frames modules interrupted finalizing recycled languages forking results containers objects)
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

# Tests one version, and says how many topics failed.
test_version() {
  local python=python$1 failed=0 topic
  for topic in "${topics[@]}"; do
    inside "$root" "cd /msleaks/test/e2e/python && python3 -B ${topic}_test.py /msleaks/build /scratch/$1-$topic /usr/bin/$python" \
      >"$work/log" 2>&1 || { failed=$((failed + 1)) && say "check-pythons: $python $topic failed" && tail -n 5 "$work/log"; }
  done
  say "check-pythons: $(inside "$root" "$python --version"): ${#topics[@]} topics, $failed failed"
  ((failed == 0))
}

"$repository/scripts/build.sh" release msleaks msleaks-run msleaks_rt_shared msleaks_hooks
if ! debian_release=sid make_debian "$root" "$work/mmdebstrap.log" python3 "${versions[@]/#/python}" gcc libc6-dev; then
  [[ ! -s $work/mmdebstrap.log ]] || tail -5 "$work/mmdebstrap.log"
  say "check-pythons: no Debian sid can be made here"
  exit 77
fi
copy_msleaks
status=0
for version in "${versions[@]}"; do
  test_version "$version" || status=1
done
exit $status
