#!/bin/sh
# verbs_test.sh MSLEAKS: runs `msleaks report`, `msleaks oom` and `msleaks sites` on invalid input, as a script would.
# Each call must return the expected exit status, print one line on stderr, and print nothing on stdout.
set -u
msleaks=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

expect() { # status, text in the message, arguments
  status=$1 text=$2
  shift 2
  "$msleaks" "$@" >out 2>err
  got=$?
  if [ "$got" -ne "$status" ] || ! grep -q -- "$text" err || [ "$(wc -l <err)" -ne 1 ] || [ -s out ]; then
    echo "msleaks $*: status $got, expected $status with '$text':"
    cat out err
    failures=$((failures + 1))
  fi
}

printf 'no trace at all, but long enough to hold a header of one, and then some more' >text
mkdir empty
expect 2 'RUN' report
expect 2 'FILE' sites
expect 2 'verbose' report --verbose empty
expect 2 'top' report --top many empty
expect 3 'missing' report missing
expect 3 '' report empty
expect 3 '' report text
printf '{"traceEvents": []}' >other.json
expect 3 'it is no result' report other.json
printf '{"version": 1, "session": {}}' >least.json
expect 2 'needs the run' report least.json --from step:1
expect 2 'is no moment' report empty --at noon
expect 2 'excludes' report empty --at peak --to 5s
expect 2 'is no moment' export empty --format json --at noon
expect 2 'RUN' oom
expect 2 'top' oom --top 0 empty
expect 3 'missing' oom missing
expect 3 '' oom empty
expect 3 '' oom text
expect 3 'missing' sites missing
expect 3 'not an ELF file' sites text
expect 3 'is not a file' sites empty
expect 3 'has no sites' sites /bin/true --json
[ "$failures" -eq 0 ]
