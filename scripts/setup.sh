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
  cmake ninja-build g++ ccache pkg-config "${library_packages[@]}"
)
test_packages=(
  clang-16 llvm-16-dev lld-16 llvm-16-tools           # the oldest LLVM that the plugin builds for (scripts/check-llvm.sh)
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd # examples/opencl_train: OpenCL on the CPU
  linux-perf                                        # test/e2e/profiles, bench: writes perf.data, and the peer that reads it
  llvm-spirv-15 spirv-tools                           # SPIR-V of counted kernels, for PoCL (test/e2e/graphs)
  heaptrack binutils strace zstd libunwind-dev        # peers that the results are compared with
  libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4  # allocators that msleaks doctor knows (test/e2e/doctor)
  dpkg-dev ca-certificates curl                     # darknet's source package, ggml in an npm package
  python3 python3-numpy python3-torch               # examples/pytorch
  chromium-headless-shell graphviz                  # the page and the DOT of msleaks cfg
  python3-jsonschema libomp-22-dev                  # its schema; loops of OpenMP that are counted (test/e2e/graphs)
  lttng-tools liblttng-ust-dev                      # bench: the tracer that record() is compared with
)

wanted=("${build_packages[@]}")
case "${1:-}" in
  '') wanted+=("${test_packages[@]}") ;;
  --build) ;;
  *) fail "setup.sh: unknown option '$1'; --build is the only one" 2 ;;
esac
install_missing setup "${wanted[@]}"
