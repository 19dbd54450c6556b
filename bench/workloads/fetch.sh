# Functions that download another project's sources once, into a cache outside the checkout. The scripts of the
# workloads source this file.
#
# Each download uses a temporary folder, which is renamed at the end. So an interrupted download leaves no incomplete
# result, and simultaneous downloads do not disturb each other.
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

# fetch_once NAME HOST COMMAND...: prints the path of the folder $fetched/NAME. If it does not exist, runs COMMAND in an
# empty folder, which then becomes $fetched/NAME. If COMMAND fails, the calling script ends. The script counts as
# skipped if HOST cannot be reached, and otherwise as failed.
fetch_once() {
  local folder=$fetched/$1 host=$2 work log
  shift 2
  if [[ ! -d $folder ]]; then
    mkdir -p "$fetched"
    work=$(mktemp -d "$folder.XXXXXX")
    log=$work.log
    # COMMAND must not run in a condition, because bash ignores `set -e` there, and would continue after an error.
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
    mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work" # if another process was faster, its folder is used
    rm -f "$log"
  fi
  printf '%s\n' "$folder"
}

reachable() { # HOST
  timeout 10 bash -c "exec 3<>/dev/tcp/$1/443" 2>/dev/null || timeout 10 bash -c "exec 3<>/dev/tcp/$1/80" 2>/dev/null
}

# The mirror for Debian's source packages of bookworm.
debian_mirror=${MSLEAKS_DEBIAN_MIRROR:-http://deb.debian.org/debian}
debian_host=${debian_mirror#*://}
debian_host=${debian_host%%/*}

# apt_lists KIND: sets apt_options, so that apt uses a source list and a state in the folder `apt`, and not those of the
# machine. The list contains packages of KIND (deb, deb-src). The caller must remove the folder `apt`.
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

# The next functions are used as COMMAND of fetch_once.
#
# debian_source PACKAGE[=VERSION]: unpacks the source package to the folder `source`, with Debian's patches.
debian_source() {
  apt_source "$1"
  # apt has verified the files by the signature of Debian's archive. dpkg-source cannot verify the signature of the
  # maintainer, whose key is not available.
  dpkg-source --no-check -x ./*.dsc source
}
# debian_upstream PACKAGE MEMBERS...: unpacks the authors' release, without Debian's patches, to the folder `source`.
# MEMBERS are patterns for tar: only these files are unpacked. Writes the release number to the file `version`.
debian_upstream() {
  local package=$1
  shift
  apt_source "$package" --tar-only
  mkdir source
  printf '%s\n' ./*.orig.tar.* | sed -E 's/.*_(.*)\.orig\.tar\..*/\1/' >version
  tar xf ./*.orig.tar.* -C source --strip-components=1 --wildcards "$@"
  rm ./*.orig.tar.*
}
# debian_package PACKAGE: unpacks a binary package, without its dependencies.
debian_package() {
  apt_lists deb
  apt-get "${apt_options[@]}" download "$1"
  rm -r apt
  dpkg-deb -x ./*.deb .
  rm ./*.deb
}
