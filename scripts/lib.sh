# What the scripts share. Sourced, never run.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_folder=$repository/build/release
# Fetched sources of other projects live here, never in the checkout.
fetched=${MSLEAKS_FETCHED:-${XDG_CACHE_HOME:-$HOME/.cache}/msleaks}
jobs=${JOBS:-$(nproc)}

say() { printf '%s\n' "$*"; }

# Passes on what is no step of a build or test run, and of the steps, `[7/300] …` or `7/300 Test …`, one in ten seconds
# and the last: a log that grows, and does not drown what matters. On a terminal everything passes.
#
#   show_progress WHAT
show_progress() {
  local what=$1 line step='' shown=$SECONDS pattern='^ *\[?([0-9]+/[0-9]+)(\]| )'
  if [[ -t 1 ]]; then
    cat
    return
  fi
  while IFS= read -r line; do
    if [[ $line =~ $pattern ]]; then
      step=${BASH_REMATCH[1]}
      ((SECONDS - shown >= 10)) || continue
      shown=$SECONDS
      printf '%s: %s\n' "$what" "$step"
    else
      printf '%s\n' "$line"
    fi
  done
  [[ ! $step ]] || printf '%s: %s\n' "$what" "$step"
}

# fail MESSAGE [STATUS]
fail() {
  printf '%s\n' "$1" >&2
  exit "${2:-1}"
}

# skip REASON: ends a test that cannot run here. ctest counts exit status 77 as skipped (SKIP_RETURN_CODE).
skip() {
  printf 'skipped: %s\n' "$1" >&2
  exit 77
}

# Headers and libraries that msleaks itself is built with; the cross build takes them for the target.
library_packages=(
  libfmt-dev nlohmann-json3-dev libzstd-dev libelf-dev libdw-dev libsqlite3-dev libcli11-dev libxxhash-dev libspdlog-dev
  libexpected-dev libgtest-dev libgmock-dev zlib1g-dev libbz2-dev libncurses-dev
)

# install_missing NAME PACKAGE...: the packages that are not installed; NAME begins what is told.
install_missing() {
  local name=$1 package status missing=() as_root=()
  shift
  for package; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "$name: everything is installed"
    return
  fi
  say "$name: installing ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "$name: needs root or sudo to install ${missing[*]}"
    as_root=(sudo)
  fi
  local apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  "${apt_get[@]}" update
  "${apt_get[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
  say "$name: done"
}
