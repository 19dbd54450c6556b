# help_test.sh MSLEAKS RUN: checks that --help shows the everyday options, and that --help-all shows all options.
set -u
run=$(dirname "$1")/msleaks-run
shows() { printf '%s\n' "$1" | grep -q -- "^  $2 "; }
help=$("$1" report --help) all=$("$1" report --help-all)
shows "$help" --from && ! shows "$help" --skip-steps && shows "$all" --from && shows "$all" --skip-steps || exit 1
help=$("$run" --help) all=$("$run" --help-all)
shows "$help" --call-stack && ! shows "$help" --ring-kib && shows "$all" --call-stack && shows "$all" --ring-kib || exit 1
