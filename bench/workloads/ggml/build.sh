#!/usr/bin/env bash
# Builds ggml's core and CPU backend from the npm package llama.rn. Also builds two programs that use ggml: a small
# transformer, and a benchmark of single operators.
#
#   build.sh FOLDER [PLUGIN]     builds in FOLDER; PLUGIN: the libMemPass.so with which every file is compiled
#   CC=clang-22 CXX=clang++-22   the compilers
#
# Exit status 77: skipped, there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"

version=0.12.9
sha512=b91b13540469d4a9c3903834d05bce188acde9265f32a61525f08e77137d152c86b9f2c2f8069dea815665510ef2f9ad36abbe24196c0867af3f8b091a27c0be

fetch_ggml() {
  # Downloads the file from the registry without npm. If this fails, uses npm, which may be configured for a mirror.
  curl -fsSL --retry 3 -O "https://registry.npmjs.org/llama.rn/-/llama.rn-$version.tgz" ||
    npm pack "llama.rn@$version" --loglevel=error
  printf '%s  %s\n' "$sha512" "llama.rn-$version.tgz" | sha512sum --check --quiet
  tar -xzf "llama.rn-$version.tgz" package/cpp
  rm "llama.rn-$version.tgz"
}

(($# == 1 || $# == 2)) || fail "usage: build.sh FOLDER [PLUGIN]" 2
source=$(fetch_once "llama.rn-$version" registry.npmjs.org fetch_ggml)/package/cpp

launcher=()
if command -v ccache >/dev/null && [[ ! ${2:-} ]]; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -G Ninja -S "$(dirname "${BASH_SOURCE[0]}")" -B "$1" --log-level=WARNING -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_C_COMPILER="${CC:-clang-22}" -DCMAKE_CXX_COMPILER="${CXX:-clang++-22}" "${launcher[@]}" \
  -DGGML_SOURCE="$source" -DPLUGIN="${2:-}" >/dev/null
cmake --build "$1" --parallel "$jobs" -- --quiet
