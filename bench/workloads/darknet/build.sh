#!/usr/bin/env bash
# Builds darknet, a neural network framework in plain C, from Debian's source package.
#
#   build.sh FOLDER [PLUGIN]     builds in FOLDER; with PLUGIN, a libMemPass.so, every file is compiled with it
#   CC=clang-22                  the compiler
#
# The source is fetched by apt, which verifies it, with a source list and a state folder of our own: the machine's are
# not touched. Exit status 77: skipped, there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"

version=0.0.0+git20180914.61c9d02e-2
mirror=${MSLEAKS_DEBIAN_MIRROR:-http://deb.debian.org/debian}

fetch_darknet() {
  mkdir -p apt/lists/partial
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm main\n' "$mirror" >apt/sources.list
  local options=(
    -qq
    -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)"
  )
  apt-get "${options[@]}" update
  apt-get "${options[@]}" source --download-only "darknet=$version"
  # apt has checked the files against the signed archive; the maintainer's own signature would need their key.
  dpkg-source --no-check -x ./*.dsc source
  rm -r apt
}

(($# == 1 || $# == 2)) || fail "usage: build.sh FOLDER [PLUGIN]" 2
folder=$1
plugin=${2:-}
host=${mirror#*://}
source=$(fetch_once "darknet-$version" "${host%%/*}" fetch_darknet)/source

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
# What make cannot see: another plugin means other objects.
stamp="$compiler $(stat -c %Y ${plugin:+"$plugin"} /dev/null | head -n 1)"
if [[ $(cat "$folder/obj/stamp" 2>/dev/null) != "$stamp" ]]; then
  rm -f "$folder"/obj/*
fi
make -s -C "$folder" -j "$jobs" CC="$compiler" OPTS="-O2 -g" darknet
printf '%s\n' "$stamp" >"$folder/obj/stamp"
