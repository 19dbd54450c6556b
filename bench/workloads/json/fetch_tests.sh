#!/usr/bin/env bash
# Prints the folder of nlohmann-json's sources, from Debian's source package. Exit status 77: skipped, there is no network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
version=3.11.2-2
echo "$(fetch_once "nlohmann-json3-$version" "$debian_host" debian_source "nlohmann-json3=$version")/source"
