#!/usr/bin/env bash
# Builds darknet, a neural network framework in plain C, from Debian's source package.
#
#   build.sh FOLDER [PLUGIN]     builds in FOLDER; PLUGIN: the libMemPass.so with which every file is compiled
#   CC=clang-22                  the compiler
#
# Exit status 77: skipped, there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"

version=0.0.0+git20180914.61c9d02e-2
(($# == 1 || $# == 2)) || fail "usage: build.sh FOLDER [PLUGIN]" 2
folder=$1
plugin=${2:-}
source=$(fetch_once "darknet-$version" "$debian_host" debian_source "darknet=$version")/source

mkdir -p "$folder"
cp -ru --no-preserve=ownership "$source/." "$folder"
mkdir -p "$folder/obj"
compiler="${CC:-clang-22} -w"
if [[ $plugin ]]; then
  compiler+=" -fpass-plugin=$plugin"
fi
if command -v ccache >/dev/null && [[ ! $plugin ]]; then
  compiler="ccache $compiler"
fi
# If the plugin has changed, all objects must be compiled again, which make does not notice.
stamp="$compiler $(stat -c %Y ${plugin:+"$plugin"} /dev/null | head -n 1)"
if [[ $(cat "$folder/obj/stamp" 2>/dev/null) != "$stamp" ]]; then
  rm -f "$folder"/obj/*
fi
make -s -C "$folder" -j "$jobs" CC="$compiler" OPTS="-O2 -g" darknet
printf '%s\n' "$stamp" >"$folder/obj/stamp"
