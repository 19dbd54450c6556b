#!/usr/bin/env bash
# Installs the libraries of the page, checks its types, and bundles it to FOLDER/report_page.inc. If npm fails, for example without a
# network, writes a file without a page, and tries again in the next build.
#
#   build.sh NPM FOLDER
set -uo pipefail
npm=$1 folder=$2
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
inc=$folder/report_page.inc

install_libraries() {
  cmp -s "$sources/package-lock.json" "$folder/node_modules/installed-lock.json" && return
  (cd "$folder" && "$npm" ci --ignore-scripts --no-audit --no-fund --loglevel=error) &&
    cp "$sources/package-lock.json" "$folder/node_modules/installed-lock.json"
}

mkdir -p "$folder" && rm -rf "$folder/src" && cp -r "$sources"/{src,package.json,package-lock.json,tsconfig.json,build.mjs} "$folder" || exit
if ! install_libraries; then
  echo "msleaks: npm could not install the libraries of the page, so \`msleaks report --html\` will have no page" >&2
  echo 'inline constexpr std::string_view kPage[] = {""};' >"$inc"
  touch -d @0 "$inc" # older than its sources
  exit 0
fi
cd "$folder" && node_modules/.bin/tsc && node build.mjs "$inc"
