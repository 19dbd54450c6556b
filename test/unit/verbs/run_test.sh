# run_test.sh MSLEAKS RUN: checks that `msleaks run` does the same as msleaks-run. Checks the help, the exit statuses,
# and that the program gets its arguments unchanged.
set -u
run=$(dirname "$1")/msleaks-run
[ "$("$1" run --help)" = "$("$run" --help)" ] || exit 1
[ "$("$1" run --version)" = "$("$run" --version)" ] || exit 1
"$1" run --on-full nonsense -- true 2>/dev/null
[ $? -eq 2 ] || exit 1
"$1" run -- /nonexistent/program 2>/dev/null
[ $? -eq 127 ] || exit 1
# The program must inherit the setting of SIGPIPE from the parent of `msleaks`, which ignores SIGPIPE here. `msleaks`
# itself does not ignore it.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ignored=$(trap '' PIPE; "$1" run --no-report -o "$folder/run" -- sh -c 'grep SigIgn /proc/self/status; exit 7')
[ $? -eq 7 ] || exit 1
case $ignored in *1???) ;; *) exit 1 ;; esac
