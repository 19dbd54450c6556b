#!/usr/bin/env bash
# Compares a page of docs/reference with the output of the program `reference`.
#   usage: reference_test.sh REFERENCE_PROGRAM PAGE DOCS_DIR
set -euo pipefail
"$1" "$2" | diff -u "$3/$2.md" - || { echo "docs/reference/$2.md is out of date: reference $2 > docs/reference/$2.md"; exit 1; }
