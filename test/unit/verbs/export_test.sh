#!/bin/sh
# export_test.sh MSLEAKS RUN: runs `msleaks export` as a script would. Checks exit statuses, that an error is one line
# on stderr, and that a file is written completely or not at all.
set -u
msleaks=$1 run=$2
verb=export
. "$(dirname "$0")/verb.sh"

same() { # description, one file, another file
  cmp "$2" "$3" || fail "$1"
}

refused 2 'RUN is required'
refused 2 '--format is required' "$run"
refused 2 "'xml'; there are .*json, jsonl, .*text" "$run" --format xml
refused 2 'no-such-option' "$run" --format json --no-such-option
refused 2 'json has no choice of blocks' "$run" --format json --of peak
refused 2 'jsonl has no choice of blocks' "$run" --format jsonl --of peak
refused 2 'json is about the whole run. --from' "$run" --format json --from 1s
refused 2 'the window is empty' "$run" --format jsonl --from 2s --to 1s
refused 2 'no such step or mark' "$run" --format jsonl --from step:12345678
refused 2 'known only at the end of a run' "$run" --format folded --of allocated --at peak
refused 2 "not 'all'" "$run" --format folded --of all
refused 2 'known only at the end' "$run" --format pprof --of leaks --at end
refused 3 'missing' missing --format json -o file
refused 3 'missing' missing --format jsonl -o file
refused 2 'symbolic link' "$run" --format json -o "$(ln -s elsewhere link; echo link)"
refused 4 'No such file' "$run" --format json -o nowhere/file
[ ! -e file ] || fail "a run that cannot be read left a file"

# The list and --help name each format once, in order.
"$msleaks" export --list >list || fail "--list: status $?"
[ "$(cut -d ' ' -f 1 list | sort -u)" = "$(cut -d ' ' -f 1 list)" ] || fail "--list: $(cat list)"
grep -q '^jsonl  *every event' list || fail "--list: $(cat list)"

# The output must be the same bytes, whether it is a pipe or a file. The status must be 0 even if the run has leaks.
"$msleaks" report "$run" --json >report.json
"$msleaks" report "$run" --all >report.text
"$msleaks" dump "$run" --json >report.jsonl
for format in json text jsonl; do
  "$msleaks" export "$run" --format $format >piped || fail "$format: status $?"
  "$msleaks" export "$run" --format $format -o - >dashed || fail "$format -o -: status $?"
  echo old >"file.$format"
  "$msleaks" export "$run" --format $format -o "file.$format" >stdout 2>&1 || fail "$format -o: status $?"
  [ ! -s stdout ] || fail "$format -o: $(cat stdout)"
  for got in piped dashed "file.$format"; do
    same "$format differs from the report or the dump" "report.$format" "$got"
  done
done

# A format of paths has the peak, unless other blocks are chosen.
"$msleaks" export "$run" --format folded >folded || fail "folded: status $?"
"$msleaks" export "$run" --format folded --of peak >of-peak || fail "--of peak: status $?"
"$msleaks" export "$run" --format folded --of leaks >of-leaks || fail "--of leaks: status $?"
same "--of peak is not the default" folded of-peak
cmp -s folded of-leaks && fail "--of leaks is the peak: $(cat folded)"

# The output must be the run's file series.json. Without this file, msleaks must compute the series.
cp -r "$run" kept && rm -f kept/series.json
"$msleaks" export kept --format series >computed || fail "series: status $?"
grep -q '"series_version": 1' computed || fail "series: $(cat computed)"
echo '{"series_version": 1}' >kept/series.json
"$msleaks" export kept --format series -o given || fail "series of a file: status $?"
same "the series is not the file" kept/series.json given

# A limit of the file size imitates a full disk.
#   full_disk FORMAT PATH NAMED    NAMED: a pattern for the path that the error names
full_disk() {
  (
    trap '' XFSZ
    ulimit -f 0
    "$msleaks" export "$run" --format "$1" -o "$2" 2>&1
    echo "status $?"
  ) | cat >said
  [ "$(sed -n 2p said)" = 'status 4' ] || fail "$1 on a full disk: $(cat said)"
  grep -q "^msleaks: cannot write '$3': " said || fail "$1 on a full disk: $(cat said)"
}
for format in json text jsonl; do
  rm -f "file.$format" && echo old >"file.$format"
  full_disk $format "file.$format" "file.$format"
  [ "$(cat "file.$format")" = old ] || fail "$format on a full disk: the old file is gone"
  [ -w /dev/full ] || continue
  "$msleaks" export "$run" --format $format >/dev/full 2>said
  [ $? -eq 4 ] && [ "$(cat said)" = 'msleaks: the output could not be written' ] || fail "$format > /dev/full: $(cat said)"
done
for format in csv db; do
  full_disk $format "folder.$format" ".*$format"
  [ ! -e "folder.$format" ] || fail "$format on a full disk: there is a folder"
done
refused 2 'csv is a folder' "$run" --format csv
ls -A | grep '^\.' && fail "temporary files are left"

# If only parts of a trace are unreadable, there is a warning. If everything is unreadable, there is an error.
mkdir cut
size=$(wc -c <"$run/trace.mslt")
head -c $((size - 1)) "$run/trace.mslt" >cut/trace.mslt
"$msleaks" export cut --format jsonl -o cut.jsonl 2>said || fail "a cut trace: status $?"
grep -q '^msleaks: warning: ' said || fail "a cut trace: $(cat said)"
same "a cut trace has other events" cut.jsonl report.jsonl
head -c 100 "$run/trace.mslt" >cut/trace.mslt
"$msleaks" export cut --format jsonl -o none.jsonl 2>said
[ $? -eq 3 ] && [ ! -e none.jsonl ] || fail "nothing could be read: $(cat said)"
[ "$failures" -eq 0 ]
