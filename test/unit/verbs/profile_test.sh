#!/bin/sh
# profile_test.sh MSLEAKS RUN: runs `msleaks profile` as a script would. Checks exit statuses, that an error is one line
# on stderr, and that a file is written completely or not at all.
set -u
msleaks=$1
golden=$(dirname "$0")/../profiles/golden
golden=$(cd "$golden" && pwd)
verb=profile
. "$(dirname "$0")/verb.sh"

gives() { # expected output, arguments
  expected=$1
  shift
  [ "$("$msleaks" profile "$@" 2>&1)" = "$expected" ] || fail "profile $*: $("$msleaks" profile "$@" 2>&1)"
}

refused 2 'subcommand'
refused 2 'FILE is required' counters
refused 2 'OUT is required' upgrade "$golden/lnt.v2.lntprof"
refused 2 'no-such-option' counters "$golden/lnt.v2.lntprof" --no-such-option
refused 2 'NAME=VALUE' report "$golden/lnt.v2.lntprof" --metric score
refused 2 'is no number' report "$golden/lnt.v2.lntprof" --metric score=nan
refused 2 'counter .nothing.' compare "$golden/lnt.v2.lntprof" "$golden/lnt.v1.lntprof" --counter nothing
refused 3 'missing' counters missing
refused 3 'known format' functions "$golden/README.md"
refused 3 'could run code' functions "$golden/evil.lntprof"
refused 3 'llvm-profdata merge' functions "$golden/raw.profraw"
refused 3 "has no function 'none'" code "$golden/lnt.v2.lntprof" none
: >empty
refused 3 'known format' counters empty
head -c 100 "$golden/lnt.v2.lntprof" >cut
refused 3 'ends before' counters cut
refused 3 'ends before' upgrade cut out
refused 3 'ends before' compare "$golden/lnt.v2.lntprof" cut
[ ! -e out ] || fail "a file that cannot be read left another one"
refused 4 'No such file' upgrade "$golden/lnt.v2.lntprof" nowhere/out

gives '{"branch-misses":3000000000000,"cycles":12345}' counters "$golden/lnt.v1.lntprof"
gives '[[{"branch-misses":0.0,"cycles":50.0},4096,"\tadd r0, r0, r1"],[{"branch-misses":0.0,"cycles":50.0},4100,"\tret"]]' \
  code "$golden/lnt.v2.lntprof" main
gives 1 version "$golden/lnt.v1.lntprof"
gives 2 version "$golden/lnt.v2.lntprof"
gives 1 version "$golden/ir.22.profdata"
gives '"raw"' disassembly-format "$golden/lnt.v2.lntprof"
gives '"raw"' disassembly-format "$golden/ir.22.profdata"
[ "$("$msleaks" profile counters - <"$golden/lnt.v1.lntprof")" = "$("$msleaks" profile counters "$golden/lnt.v1.lntprof")" ] || fail "standard input"
[ "$(cat "$golden/lnt.v1.lntprof" | "$msleaks" profile counters -)" = "$("$msleaks" profile counters "$golden/lnt.v1.lntprof")" ] || fail "a pipe"
[ "$("$msleaks" profile formats | cut -d ' ' -f 1 | tr '\n' ' ')" = 'lnt1 lnt2 perf profdata ' ] || fail formats

# `upgrade` must write the same bytes as LNT's own upgrade of a profile of format version 1.
echo old >out.lntprof
"$msleaks" profile upgrade "$golden/lnt.v1.lntprof" out.lntprof >stdout 2>&1 || fail "upgrade: $(cat stdout)"
[ ! -s stdout ] || fail "upgrade: $(cat stdout)"
cmp out.lntprof "$golden/lnt.v2.lntprof" || fail "upgrade writes other bytes than LNT"

# The report must contain the profile in base64.
"$msleaks" profile report out.lntprof --machine box --order revision=7 --test nts.a --metric execution_time=1 --metric execution_time=2 >report ||
  fail "report: status $?"
grep -q "\"profile\": \"$(base64 -w 0 out.lntprof)\"" report || fail "the report has another profile: $(cat report)"
grep -q '"revision": "7"' report || fail "$(cat report)"
tr -d ' \n' <report | grep -q '"execution_time":\[1.0,2.0\]' || fail "$(cat report)"

"$msleaks" profile compare out.lntprof out.lntprof >table || fail "compare: status $?"
grep -q '45.00 *45.00  main' table || fail "$(cat table)"
"$msleaks" profile compare out.lntprof out.lntprof --json --top 1 | grep -q '"name":"main"' || fail "compare --json"

# A limit of the file size imitates a full disk. The earlier file must stay.
echo old >kept
(
  trap '' XFSZ
  ulimit -f 0
  "$msleaks" profile upgrade "$golden/lnt.v1.lntprof" kept 2>&1
  echo "status $?"
) | cat >said
[ "$(sed -n 2p said)" = 'status 4' ] || fail "on a full disk: $(cat said)"
[ "$(cat kept)" = old ] || fail "on a full disk: the old file is gone"
ls -A | grep '^\.' && fail "temporary files are left"
[ "$failures" -eq 0 ]
