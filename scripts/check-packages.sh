#!/usr/bin/env bash
# Builds the Debian packages and tests them in a fresh Debian, which mmdebstrap creates. The test installs the packages,
# compiles and runs a program with the plugin, and reads the report. Without root, mmdebstrap or the network, the script
# only unpacks the packages in a folder and tests them there. The script prints which of the two tests it runs.
#
#   scripts/check-packages.sh [LLVM]     version of the plugin to compile with [22]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$repository/scripts/fresh_debian.sh"

llvm=${1:-22}
command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-shlibdeps: install dpkg-dev"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

build_packages() {
  "$repository/scripts/build.sh" release
  cpack -G DEB --config "$build_folder/CPackConfig.cmake" -B "$work/packages" >"$work/cpack.log" 2>&1 ||
    { cat "$work/cpack.log"; fail "check-packages: cpack failed"; }
  rm -rf "$work/packages/_CPack_Packages"
  for package in "$work"/packages/*.deb; do
    say "check-packages: ${package##*/} depends on: $(dpkg-deb -f "$package" Depends)"
  done
}

# Creates a fresh Debian with the package sources of this machine, because clang may come from LLVM's own packages.
make_debian_with_sources() {
  make_debian "$root" "$work/mmdebstrap.log" ca-certificates || return
  cp -r /etc/apt/sources.list.d /etc/apt/trusted.gpg.d "$root/etc/apt/"
  cp -rn /usr/share/keyrings "$root/usr/share/"
  [[ ! -d /etc/apt/keyrings ]] || cp -r /etc/apt/keyrings "$root/etc/apt/"
  cp /etc/resolv.conf "$root/etc/"
}

# The test as a shell script. It runs in $1/use, where $1 is the folder with the unpacked packages, or empty inside the
# fresh Debian.
use='
  cd "$1/use"
  printf "%s\n" "#include <stdlib.h>" "char *kept;" "int main(void) { kept = malloc(1000); kept = 0; return 5; }" >leak.c
  clang-$2 -g -O0 "-fpass-plugin=$(msleaks plugin --llvm $2)" leak.c -o leak
  status=0
  msleaks run -o RUN -- ./leak || status=$?
  test $status -eq 5
  status=0
  msleaks report RUN >report.txt || status=$?
  test $status -eq 1
  grep -q "leak.c:3" report.txt
  msleaks sites leak | grep -q "leak.c:3"
  test -e "$1/usr/share/man/man1/msleaks-report.1.gz" || test -e "$1/usr/share/man/man1/msleaks-report.1"
  test -e "$1/usr/share/doc/msleaks/docs/report.md"
  test -e "$1/usr/share/bash-completion/completions/msleaks"
  test -e "$1/usr/lib/cmake/msleaks/msleaksConfig.cmake"
  test -e "$1/usr/lib/python3/dist-packages/msleaks/py.typed"
'

build_packages
if make_debian_with_sources && mkdir "$root/packages" "$root/use" && cp "$work"/packages/*.deb "$root/packages/" &&
  inside "$root" "apt-get -qq update && apt-get -qq install -y --no-install-recommends libc6-dev \
    \$(ls /packages/*.deb | grep -v llvm-) /packages/msleaks-llvm-${llvm}_*.deb" >"$work/install.log" 2>&1; then
  say "check-packages: installed into a fresh Debian"
  inside "$root" "set -- '' $llvm; $use"
else
  [[ ! -s $work/install.log ]] || tail -5 "$work/install.log"
  say "check-packages: no fresh Debian can be made here; the packages are unpacked into a folder"
  rm -rf "$root" && mkdir -p "$root/use"
  for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  PATH=$root/usr/bin:$PATH sh -euc "$use" sh "$root" "$llvm"
fi
say "check-packages: the packages for LLVM $llvm compile, run and report"
