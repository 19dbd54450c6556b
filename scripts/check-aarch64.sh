#!/usr/bin/env bash
# Cross-compiles msleaks for 64-bit ARM, and runs the tests that qemu-user can run. docs/aarch64.md lists the results.
# The tests are unit tests, tests with kills, signals, and pages of 4, 16 and 64 KiB, and programs that are compiled
# with the plugin.
#
#   scripts/check-aarch64.sh [--setup]     --setup: only make the sysroot and qemu in build/aarch64
#
# The script installs Debian's cross compiler on the machine. The arm64 libraries (sysroot) and qemu are in
# build/aarch64, and the plugin for this machine is in build/release. qemu must support MADV_WIPEONFORK, so its version
# is 8.0 or later, from Debian 12's backports. It is registered as the interpreter of arm64 programs only in a
# namespace.
#
# Exit status: 0 = all tests passed; 1 = a test failed; 77 = skipped (no network, or a kernel without binfmt_misc in
# namespaces).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

arm=$repository/build/aarch64
sysroot=$arm/sysroot
qemu=$arm/tools/qemu-aarch64
results=$arm/results

# private_apt FOLDER SOURCES ARCHITECTURE ARGUMENTS...: runs apt with a separate state in FOLDER. In this state, no
# package is installed.
private_apt() {
  local state=$1 sources=$2 architecture=$3
  shift 3
  mkdir -p "$state"/{lists,archives}/partial
  : >"$state/status"
  apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Dir::State::Lists="$state/lists" \
    -o Dir::State::status="$state/status" -o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" \
    -o Dir::Etc::sourcelist="$sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::main=/dev/null \
    -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 \
    -o Debug::NoLocking=1 "$@"
}

sources() { # FILE SUITE
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $2 main" >"$1"
}

# Makes absolute symbolic links relative, because they would lead out of the sysroot.
make_links_relative() {
  local link
  while IFS= read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$1$(readlink "$link")")" "$link"
  done < <(find "$1" -type l -lname '/*')
}

make_sysroot() {
  [[ -e $sysroot/.complete ]] && return
  say "check-aarch64: arm64 libraries"
  local state=$arm/apt package
  mkdir -p "$state" "$sysroot/usr/lib"
  sources "$state/sources.list" bookworm
  private_apt "$state" "$state/sources.list" arm64 update || skip "no network"
  private_apt "$state" "$state/sources.list" arm64 install -y --download-only libc6-dev libstdc++-12-dev \
    "${library_packages[@]}" "${test_library_packages[@]}" >/dev/null || skip "no network"
  ln -sfn usr/lib "$sysroot/lib"
  for package in "$state"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$sysroot"
  done
  make_links_relative "$sysroot"
  touch "$sysroot/.complete"
}

make_qemu() {
  [[ -x $qemu ]] && return
  say "check-aarch64: qemu-user"
  local state=$arm/apt-qemu
  mkdir -p "$state" "$(dirname "$qemu")"
  sources "$state/sources.list" bookworm-backports
  local native
  native=$(dpkg --print-architecture)
  private_apt "$state" "$state/sources.list" "$native" update || skip "no network"
  (cd "$state" && private_apt "$state" "$state/sources.list" "$native" download qemu-user >/dev/null) || skip "no network"
  dpkg-deb --fsys-tarfile "$state"/qemu-user_*.deb | tar -xO ./usr/bin/qemu-aarch64 >"$qemu.new"
  chmod +x "$qemu.new"
  mv "$qemu.new" "$qemu"
}

inside() { "$repository/scripts/run_aarch64.py" "$qemu" "$sysroot" "$@"; }

build() {
  say "check-aarch64: build"
  "$repository/scripts/build.sh" aarch64
  say "check-aarch64: build of the plugin, and of what it is compared with, for this machine"
  "$repository/scripts/build.sh" release MemPass22 msleaks msleaks_run msleaks_hooks
}

# part NAME CTEST-OPTIONS...: runs the tests that the options select, under qemu-user. Writes the results to NAME.xml.
declare -a parts=()
part() {
  local name=$1
  shift
  parts+=("$name")
  say "check-aarch64: $name"
  inside ctest --test-dir "$arm" --output-junit "$results/$name.xml" --output-on-failure --parallel "$jobs" --timeout 900 \
    --progress --no-tests=error "$@" 2>&1 </dev/null | tee "$results/$name.log" |
    { grep --line-buffered -E '^ *[0-9]+/[0-9]+ ' || true; } | show_progress "$name" || true
}

# Tests that cannot run under qemu-user. RealProgramsDoTheSame loads arm64 libraries into native programs, which is
# impossible. The other tests compile code for the build machine.
cannot='Hooks.RealProgramsDoTheSame|symbols_reject|report.verbs'

run_parts() {
  mkdir -p "$results"
  rm -f "$results"/*.xml
  part unit -LE e2e -E "$cannot|Signals|Pages"
  part signals -R 'Signals'
  CC="aarch64-linux-gnu-gcc --sysroot=$sysroot" MSLEAKS_STARTS_AFTER=1 part kill-9 -R 'run-kill'
  part plugin -R 'aarch64-plugin'
  part pages -R 'Pages|Page\.'
}

table() {
  local status=0 name line
  printf '\n%-12s %s\n' part result
  for name in "${parts[@]}"; do
    line=$(python3 "$repository/scripts/count_tests.py" "$results/$name.xml") || status=1
    printf '%-12s %s\n' "$name" "$(tail -n 1 <<<"$line")"
    head -n -1 <<<"$line" | sed 's/^/             /'
  done
  return $status
}

install_missing check-aarch64 g++-aarch64-linux-gnu || skip "no network"
make_sysroot
make_qemu
[[ ${1:-} != --setup ]] || exit 0
inside true || skip "no binfmt_misc in a namespace (Linux 6.7)"
build
run_parts
table
