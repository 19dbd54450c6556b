#!/usr/bin/env python3
"""Compiles each source of analysis/, passes/, tools/ and driver/ alone, with -fsyntax-only. So it finds sources that need a
header which only another source includes. A normal build joins sources, and does not notice this.

    check-alone.py BUILD    a folder that was configured with -DMSLEAKS_JOIN_SOURCES=OFF -DMSLEAKS_PRECOMPILE=OFF

Prints the errors, then how many of the sources compile. Exit status 1: a source does not compile.
"""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OURS = ("analysis", "passes", "tools", "driver")


def compiles(entry):
    words = shlex.split(entry["command"])
    output = words.index("-o")
    done = subprocess.run([*words[:output], *words[output + 2:], "-fsyntax-only"], cwd=entry["directory"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return done.returncode == 0


def main(build):
    root = Path(__file__).resolve().parents[1]
    entries = [entry for entry in json.loads((Path(build) / "compile_commands.json").read_text())
               if Path(entry["file"]).is_relative_to(root) and Path(entry["file"]).relative_to(root).parts[0] in OURS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compiles, entries))
    print(f"{sum(results)} of {len(results)} sources compile alone")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
