#!/usr/bin/env bash
# Installs the libraries of the pages, checks their types, and bundles them to FOLDER/report_page.inc and FOLDER/graphs_page.inc. If npm fails,
# for example without a network, writes files without a page, and tries again in the next build.
#
#   build.sh NPM FOLDER
set -uo pipefail
npm=$1 folder=$2
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

install_libraries() {
  cmp -s "$sources/package-lock.json" "$folder/node_modules/installed-lock.json" && return
  (cd "$folder" && "$npm" ci --ignore-scripts --no-audit --no-fund --loglevel=error) &&
    cp "$sources/package-lock.json" "$folder/node_modules/installed-lock.json"
}

write_empty() { # NAME FILE
  echo "inline constexpr std::string_view $1[] = {\"\"};" >"$2"
  touch -d @0 "$2" # older than its sources
}

mkdir -p "$folder" && rm -rf "$folder/src" && cp -r "$sources"/{src,package.json,package-lock.json,tsconfig.json,build.mjs} "$folder" || exit
if ! install_libraries; then
  echo "msleaks: npm could not install the libraries of the pages, so --html of report, compare and cfg will write none" >&2
  write_empty kPage "$folder/report_page.inc"
  write_empty kGraphsPage "$folder/graphs_page.inc"
  exit 0
fi
cd "$folder" && node_modules/.bin/tsc && node_modules/.bin/tsc -p src/graphs && node build.mjs "$folder"
