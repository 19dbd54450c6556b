# verb.sh: sourced by the scripts of the verbs with `verb` and `msleaks` set. Changes into an empty folder, and defines
# the functions that they share.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

refused() { # status, text in the message, arguments
  status=$1 text=$2
  shift 2
  "$msleaks" "$verb" "$@" >stdout 2>stderr
  got=$?
  if [ "$got" -ne "$status" ] || ! grep -q -- "$text" stderr || [ "$(wc -l <stderr)" -ne 1 ] || [ -s stdout ]; then
    fail "$verb $*: status $got, expected $status with '$text': $(cat stdout stderr)"
  fi
}
