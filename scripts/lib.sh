# What the scripts share. Sourced, never run.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_folder=$repository/build/release
# Fetched sources of other projects live here, never in the checkout.
fetched=${MSLEAKS_FETCHED:-${XDG_CACHE_HOME:-$HOME/.cache}/msleaks}
jobs=${JOBS:-$(nproc)}

say() { printf '%s\n' "$*"; }

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
