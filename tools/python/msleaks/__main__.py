"""`python -m msleaks run [options] script.py arguments...` records a script. Other verbs are those of the program `msleaks`."""
import sys

from ._tools import become, run_python

if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run_python(sys.argv[2:])
    become("msleaks", sys.argv[1:])
