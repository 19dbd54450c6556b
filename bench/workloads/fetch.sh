# Sourced by the workloads' scripts: getting another project's sources once, into a cache outside of the checkout.
#
# A fetch happens in a folder of its own that is renamed at the end. So an interrupted one leaves nothing behind and two at once
# do not disturb each other.
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

# fetch_once NAME HOST COMMAND...: prints the folder $fetched/NAME; when it is not there, runs COMMAND in an empty folder
# that becomes it. When COMMAND fails, this is a skip if HOST cannot be reached from here, and a failure otherwise.
fetch_once() {
  local folder=$fetched/$1 host=$2 work log
  shift 2
  if [[ ! -d $folder ]]; then
    mkdir -p "$fetched"
    work=$(mktemp -d "$folder.XXXXXX")
    log=$work.log
    # In a condition, bash would go on after an error in COMMAND: not in one, then.
    set +e
    (
      set -e
      cd "$work"
      "$@"
    ) >"$log" 2>&1
    local status=$?
    set -e
    if ((status != 0)); then
      tail -n 20 "$log" >&2
      rm -rf "$work" "$log"
      reachable "$host" || skip "no network: $host cannot be reached, and $folder is not there"
      fail "fetch: cannot fetch $folder, although $host can be reached"
    fi
    mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work" # another process was faster
    rm -f "$log"
  fi
  printf '%s\n' "$folder"
}

reachable() { # HOST
  timeout 10 bash -c "exec 3<>/dev/tcp/$1/443" 2>/dev/null || timeout 10 bash -c "exec 3<>/dev/tcp/$1/80" 2>/dev/null
}

# Debian's source packages of bookworm come from here.
debian_mirror=${MSLEAKS_DEBIAN_MIRROR:-http://deb.debian.org/debian}
debian_host=${debian_mirror#*://}
debian_host=${debian_host%%/*}

# apt_lists KIND: apt_options, with a source list and a state folder of our own, where KIND (deb, deb-src) is known: the
# machine's are not touched. apt verifies what it downloads into the current folder; the folder `apt` is to be removed.
apt_lists() {
  mkdir -p apt/lists/partial
  printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm main\n' "$1" "$debian_mirror" >apt/sources.list
  apt_options=(
    -qq
    -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)"
  )
  apt-get "${apt_options[@]}" update
}

# apt_source PACKAGE[=VERSION] OPTIONS...: downloads a source package.
apt_source() {
  local package=$1
  shift
  apt_lists deb-src
  apt-get "${apt_options[@]}" source --download-only "$@" "$package"
  rm -r apt
}

# COMMANDs of fetch_once; both make the folder `source`.
# debian_source PACKAGE[=VERSION]: with Debian's patches.
debian_source() {
  apt_source "$1"
  # apt has checked the files against the signed archive; the maintainer's own signature would need their key.
  dpkg-source --no-check -x ./*.dsc source
}
# debian_upstream PACKAGE MEMBERS...: as its authors released it; of a large one only what MEMBERS (tar's patterns) name. The file
# `version` says which release that is.
debian_upstream() {
  local package=$1
  shift
  apt_source "$package" --tar-only
  mkdir source
  printf '%s\n' ./*.orig.tar.* | sed -E 's/.*_(.*)\.orig\.tar\..*/\1/' >version
  tar xf ./*.orig.tar.* -C source --strip-components=1 --wildcards "$@"
  rm ./*.orig.tar.*
}
# debian_package PACKAGE: what is in a built one, without those that it depends on.
debian_package() {
  apt_lists deb
  apt-get "${apt_options[@]}" download "$1"
  rm -r apt
  dpkg-deb -x ./*.deb .
  rm ./*.deb
}
