"""Compares the calls of Python code in call paths with those that Python itself shows.

    frames_test.py BUILD SCRATCH PYTHON [BLOCKS]
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from frames import compare

build, scratch, python = sys.argv[1:4]
compare(build, scratch, python, int(sys.argv[4]) if len(sys.argv) > 4 else 2000)
