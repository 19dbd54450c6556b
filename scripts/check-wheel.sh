#!/usr/bin/env bash
# Builds the Python wheel and tests it, without clang in PATH. Uses a virtual environment of each installed Python from
# 3.9 on, and a fresh Debian that has Python but no compiler. Without root, mmdebstrap or the network, the script says
# that it made no fresh Debian.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$repository/scripts/fresh_debian.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
test=test/e2e/python/wheel_test.py
root=$work/root

wheel=$("$repository/scripts/wheel.sh" "$work/dist")
say "check-wheel: ${wheel##*/}, $(stat -c %s "$wheel") bytes"
again=$("$repository/scripts/wheel.sh" "$work/again" 2>/dev/null)
cmp "$wheel" "$again" || fail "check-wheel: the same build gives another wheel"

for python in /usr/bin/python3 "$HOME"/.pyenv/versions/3.*/bin/python3; do
  [[ -x $python ]] && "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || continue
  "$python" -B "$repository/$test" "$wheel" "$work/venv" "$python" 2>&1 | tail -n 20
  say "check-wheel: holds with $("$python" --version)"
done

if make_debian "$root" "$work/mmdebstrap.log" python3 python3-venv; then
  ! inside "$root" 'command -v clang || command -v cc' || fail "check-wheel: the fresh Debian has a compiler"
  mkdir "$root/test"
  cp "$wheel" "$repository/$test" "$root/test/"
  inside "$root" "python3 -B /test/${test##*/} /test/${wheel##*/} /test/scratch"
  say "check-wheel: holds in a fresh Debian without a compiler"
else
  [[ ! -s $work/mmdebstrap.log ]] || tail -5 "$work/mmdebstrap.log"
  say "check-wheel: no fresh Debian can be made here"
fi
