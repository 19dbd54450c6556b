#!/bin/sh
# compare_test.sh MSLEAKS RUN: runs `msleaks compare` as a script would. Checks exit statuses, that an error is one line
# on stderr, and that the file is written completely or not at all.
set -u
msleaks=$1 run=$2
verb=compare
. "$(dirname "$0")/verb.sh"

header='ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call Stack(C)'
dump() { # SIZE...: for each SIZE, prints a launch, and then an allocation of SIZE bytes from the pool
  echo "$header"
  time=0
  for size in "$@"; do
    time=$((time + 2))
    echo "$time,KERNEL_LAUNCH,KERNEL_LAUNCH,add,$time,7,7,0,N/A,\"{streamId:2,taskId:1}\",\"a.py(1): f
\","
    echo "$time,MALLOC,PTA,N/A,$((time + 1)),7,7,0,0x10,\"{addr:16,size:$size,used:1}\",,"
  done
}
dump 512 1024 2048 >a.csv
dump 512 4096 >b.csv
policy='--policy msmemscope'

"$msleaks" compare a.csv b.csv $policy -o out >stdout 2>stderr
[ $? -eq 1 ] || fail "two rows differ: status $?, $(cat stdout stderr)"
set -- out/memory_compare_*.csv
[ $# -eq 1 ] && [ "$(cat stdout)" = "$1: 3 rows, 2 differ" ] || fail "what is said: $(cat stdout stderr)"
cat >expected <<'EOF'
,,,Base,Compare
Event,Name,Device Id,Allocated Memory(byte),Allocated Memory(byte),Diff Memory(byte)
KERNEL_LAUNCH,add,0,512,512,0
KERNEL_LAUNCH,add,0,1024,4096,3072
KERNEL_LAUNCH,add,0,2048,N/A,-2048
EOF
cmp "$1" expected || fail "the file: $(cat "$1")"
[ "$(ls -A out)" = "${1#out/}" ] || fail "temporary files are left: $(ls -A out)"

"$msleaks" compare a.csv a.csv $policy -o out >stdout 2>&1 || fail "a dump and itself: status $?, $(cat stdout)"
grep -q ': 3 rows, 0 differ$' stdout || fail "a dump and itself: $(cat stdout)"

rm -r out
refused 2 'B is required' a.csv
refused 2 'pytorch' a.csv b.csv --policy pytorch -o out
refused 2 'symbolic link' a.csv b.csv $policy -o "$(ln -s elsewhere link; echo link)"
refused 3 "missing.csv" a.csv missing.csv $policy -o out
refused 3 "no launch to compare" a.csv b.csv $policy --level op -o out
refused 3 "no launch to compare" a.csv "$run" $policy -o out
refused 3 "no range to compare" "$run" "$run" $policy --level op -o out
refused 3 "'empty'" empty "$run" $policy -o "$(mkdir empty; echo out)"
head -c 500 a.csv >cut.csv
refused 3 "'cut.csv', row " a.csv cut.csv $policy -o out
echo 'ID,Name' >other.csv
refused 3 "'other.csv', row 1: " other.csv b.csv $policy -o out
[ ! -e out ] || fail "a dump that cannot be read left a folder"

# A limit of the file size imitates a full disk.
(
  trap '' XFSZ
  ulimit -f 0
  "$msleaks" compare a.csv b.csv $policy -o full 2>&1
  echo "status $?"
) | cat >said
[ "$(sed -n 2p said)" = 'status 4' ] || fail "on a full disk: $(cat said)"
[ -z "$(ls -A full)" ] || fail "on a full disk: $(ls -A full)"
[ "$failures" -eq 0 ]
