#!/usr/bin/env bash
# Compiles symbols.h with one wrong row in the table. The compiler must reject the row for the expected reason.
#   usage: rejects_test.sh CXX INCLUDE_DIR FAULT
set -euo pipefail
cxx=$1 include=$2 fault=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$include/msleaks" "$work/msleaks"

case $fault in
  no_free)
    row='MSL_KNOWN(Heap, fooAlloc, ALLOC(Host, 0, RETURN, ARG(0), NONE, "fooFree"))' because='partner of an allocator must free' ;;
  free_of_another_family)
    row='MSL_KNOWN(Heap, fooAlloc, ALLOC(Host, 0, RETURN, ARG(0), NONE, "cudaFree"))' because='partner of an allocator must free' ;;
  partner_does_not_free)
    row='MSL_KNOWN(Heap, fooAlloc, ALLOC(Host, 0, RETURN, ARG(0), NONE, "malloc"))' because='partner of an allocator must free' ;;
esac
echo '#include "msleaks/abi/symbols.h"' >"$work/use.cpp"
"$cxx" -std=c++20 -fsyntax-only -I "$work" "$work/use.cpp" || { echo "FAILED: the table itself does not compile"; exit 1; }
sed -i "/^\/\/ C heap/a $row" "$work/msleaks/abi/functions/libc.def"
if "$cxx" -std=c++20 -fsyntax-only -I "$work" "$work/use.cpp" 2>"$work/errors"; then
  echo "FAILED: accepted: $row"
  exit 1
fi
grep -q "$because" "$work/errors" || { echo "FAILED: refused, but not because of '$because':"; cat "$work/errors"; exit 1; }
