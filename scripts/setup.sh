#!/usr/bin/env bash
# Installs what building and testing msleaks needs, on Debian 12. Installs only what is missing, and touches the
# network only then. Run as root, or as a user who may sudo.
#
#   scripts/setup.sh           everything
#   scripts/setup.sh --build   what building needs; no PyTorch, no heaptrack, no OpenCL driver
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build_packages=(
  clang-19 llvm-19-dev lld-19 llvm-19-tools libclang-rt-19-dev
  clang-22 llvm-22-dev lld-22 llvm-22-tools libclang-rt-22-dev
  cmake ninja-build g++ ccache pkg-config zlib1g-dev
  libfmt-dev nlohmann-json3-dev libzstd-dev libelf-dev libsqlite3-dev libcli11-dev libxxhash-dev libspdlog-dev
  libexpected-dev libgtest-dev libgmock-dev
)
test_packages=(
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd # examples/opencl_train: OpenCL on the CPU
  heaptrack binutils strace zstd                      # peers that the results are compared with
  dpkg-dev ca-certificates curl                     # darknet's source package, ggml in an npm package
  python3 python3-numpy python3-torch               # examples/pytorch
  lttng-tools liblttng-ust-dev                      # bench: the tracer that record() is compared with
)

wanted=("${build_packages[@]}")
case "${1:-}" in
  '') wanted+=("${test_packages[@]}") ;;
  --build) ;;
  *) fail "setup.sh: unknown option '$1'; --build is the only one" 2 ;;
esac
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

if ((${#missing[@]} == 0)); then
  say "setup: everything is installed"
  exit 0
fi

say "setup: installing ${missing[*]}"
as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || fail "setup.sh: needs root or sudo to install ${missing[*]}"
  as_root=(sudo)
fi
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
"${apt_get[@]}" update
"${apt_get[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
say "setup: done"
