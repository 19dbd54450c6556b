# Functions for scripts that test in a fresh Debian, which mmdebstrap creates. The scripts source lib.sh first.

# make_debian ROOT LOG PACKAGE...: creates a Debian with the release of this machine, or with $debian_release. Fails
# without root, mmdebstrap or the network. The index of the mirror may have expired.
make_debian() {
  local root=$1 log=$2
  shift 2
  ((EUID == 0)) && command -v mmdebstrap >/dev/null || return
  mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include="$(IFS=,; echo "$*")" \
    "${debian_release:-$(. /etc/os-release && echo "$VERSION_CODENAME")}" "$root" >"$log" 2>&1
}

# inside ROOT COMMAND: runs a command in the Debian, in a mount namespace that exists only for this command.
inside() {
  unshare --mount --propagation private sh -c '
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" sh -euc "$2"' sh "$1" "$2"
}
