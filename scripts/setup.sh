#!/usr/bin/env bash
# Installs the packages that msleaks needs, on Debian 12. If no package is missing, uses no network. Run this script as
# root, or as a user who may use sudo.
#
#   scripts/setup.sh           for scripts/test.sh
#   scripts/setup.sh --demo    for scripts/demo.sh: one LLVM, and OpenCL on the processor
#   scripts/setup.sh --build   to build everything, including tests
#   scripts/setup.sh --deep    for scripts/check-deep.sh, including peers of the benchmarks
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

demo_packages=(
  clang-22 llvm-22-dev
  cmake ninja-build g++ ccache pkg-config "${library_packages[@]}"
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd # examples/opencl_train: OpenCL on the CPU
)
build_packages=(
  clang-19 llvm-19-dev lld-19 llvm-19-tools libclang-rt-19-dev
  clang-22 llvm-22-dev lld-22 llvm-22-tools libclang-rt-22-dev
  cmake ninja-build g++ ccache pkg-config "${library_packages[@]}" "${test_library_packages[@]}"
)
test_packages=(
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd
  libze-dev                                      # the header of Level Zero, which prototypes are compared with
  linux-perf                                     # test/e2e/profiles: writes perf.data, and reads it for comparison
  llvm-spirv-15 spirv-tools                      # SPIR-V of counted kernels, for PoCL (test/e2e/graphs)
  heaptrack binutils strace zstd libunwind-dev   # peers that the results are compared with
  libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4 # allocators that msleaks doctor recognizes (test/e2e/doctor)
  dpkg-dev ca-certificates curl                  # darknet's source package, ggml in an npm package
  python3-pip                                    # NVIDIA's headers and ptxas, in wheels
  python3 python3-numpy python3-torch            # examples/pytorch
  chromium-headless-shell graphviz               # the page and the DOT of msleaks cfg
  clang-format-22 clang-tidy-22 mmdebstrap       # scripts/check-format.py, check-tidy.sh, check-packages.sh
  babeltrace2                                    # reads the format ctf (test/e2e/export)
  python3-jsonschema libomp-22-dev               # schema of the JSON of msleaks cfg; counted OpenMP loops
  prometheus python3-prometheus-client           # read what msleaks top --metrics publishes
  mypy python3-pytest python3-greenlet           # types and plug-in of the Python package (tools/python)
)
deep_packages=(
  clang-16 llvm-16-dev lld-16 llvm-16-tools # the oldest LLVM that the plugin builds for (scripts/check-llvm.sh)
  valgrind                                  # bench: counts the instructions of a pair
  lttng-tools liblttng-ust-dev              # bench: the tracer that record() is compared with
)

# Bundles the page of reports (tools/report). Node.js of another source than Debian has npm, too.
command -v npm >/dev/null || build_packages+=(npm)

case "${1:-}" in
  '') wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
  --demo) wanted=("${demo_packages[@]}") ;;
  --build) wanted=("${build_packages[@]}") ;;
  --deep) wanted=("${build_packages[@]}" "${test_packages[@]}" "${deep_packages[@]}") ;;
  *) fail "setup.sh: unknown option '$1'; there are --demo, --build and --deep" 2 ;;
esac
install_missing setup "${wanted[@]}"
