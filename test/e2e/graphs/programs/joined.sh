#!/bin/sh
# Stands in for fatbinary and clang-offload-bundler, which combine the binaries
# of several devices into one file. This script only concatenates them.
files=
while [ $# -gt 0 ]; do
  case $1 in
  --create) to=$2 && shift ;;
  -output=*) to=${1#*=} ;;
  --image*file=*) files="$files ${1##*file=}" ;;
  -input=*) files="$files ${1#*=}" ;;
  esac
  shift
done
cat $files >"$to"
