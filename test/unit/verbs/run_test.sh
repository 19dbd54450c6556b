# MSLEAKS RUN: `msleaks run` is msleaks-run: its help, its refusals, and the arguments of the program as they are given.
set -u
run=$(dirname "$1")/msleaks-run
[ "$("$1" run --help)" = "$("$run" --help)" ] || exit 1
[ "$("$1" run --version)" = "$("$run" --version)" ] || exit 1
"$1" run --on-full nonsense -- true 2>/dev/null
[ $? -eq 2 ] || exit 1
"$1" run -- /nonexistent/program 2>/dev/null
[ $? -eq 127 ] || exit 1
# The parent's SIGPIPE reaches the program as it is: ignored, though `msleaks` itself does not ignore it.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ignored=$(trap '' PIPE; "$1" run --no-report -o "$folder/run" -- sh -c 'grep SigIgn /proc/self/status; exit 7')
[ $? -eq 7 ] || exit 1
case $ignored in *1???) ;; *) exit 1 ;; esac
