# Functions and settings for the scripts in this folder, which source this file.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_folder=$repository/build/release
# The folder for downloaded sources of other projects, outside the checkout.
fetched=${MSLEAKS_FETCHED:-${XDG_CACHE_HOME:-$HOME/.cache}/msleaks}
jobs=${JOBS:-$(nproc)}
# The seconds between two lines of progress, if the output is not a terminal.
progress_seconds=${PROGRESS_SECONDS:-10}

say() { printf '%s\n' "$*"; }

# Filters the output of a build or a test run. From lines that show a step, such as `[7/300] …` or `7/300 Test …`,
# prints only the step's number: once in progress_seconds, and at the end. Prints all other lines unchanged. On a
# terminal, prints every line.
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
      ((SECONDS - shown >= progress_seconds)) || continue
      shown=$SECONDS
      printf '%s: %s\n' "$what" "$step"
    else
      printf '%s\n' "$line"
    fi
  done
  [[ ! $step ]] || printf '%s: %s\n' "$what" "$step"
}

# Runs a command without showing its output, and shows the elapsed seconds. If the command fails, prints its output.
#
#   quietly WHAT COMMAND...
quietly() {
  local what=$1 log begin=$SECONDS shown=$SECONDS process status=0
  shift
  log=$(mktemp)
  "$@" >"$log" 2>&1 &
  process=$!
  while kill -0 "$process" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - shown >= progress_seconds)); then
      shown=$SECONDS
      say "$what: $((SECONDS - begin)) s"
    fi
  done
  wait "$process" || status=$?
  ((status == 0)) || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# fail MESSAGE [STATUS]: prints the message to stderr and exits.
fail() {
  printf '%s\n' "$1" >&2
  exit "${2:-1}"
}

# skip REASON: ends a script that cannot run on this machine. ctest counts exit status 77 as skipped (SKIP_RETURN_CODE).
skip() {
  printf 'skipped: %s\n' "$1" >&2
  exit 77
}

# Packages with headers and libraries that msleaks needs. The cross build installs them for the target architecture.
library_packages=(
  libfmt-dev nlohmann-json3-dev libsimdjson-dev libzstd-dev libelf-dev libdw-dev libsqlite3-dev libcli11-dev libxxhash-dev libspdlog-dev
  libexpected-dev zlib1g-dev libbz2-dev libncurses-dev liblz4-dev libbpf-dev
)
test_library_packages=(libgtest-dev libgmock-dev)

# install_missing NAME PACKAGE...: installs the packages that are not installed yet. Messages begin with NAME.
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
  quietly "$name: package lists" "${apt_get[@]}" update
  quietly "$name: ${#missing[@]} packages" "${apt_get[@]}" install -y --no-install-recommends "${missing[@]}"
  say "$name: done"
}
