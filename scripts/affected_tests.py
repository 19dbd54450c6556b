#!/usr/bin/env python3
"""Prints the folders of tests that the changes since a revision can break.

    affected_tests.py REPOSITORY REVISION    one folder on each line, named as in `scripts/test.sh --unit`: live, lit, e2e/run

A change of a part of analysis/ affects the unit tests of this part, and of all parts that may include its headers
(analysis/CMakeLists.txt). It also affects the tests with whole runs that RUNS names for the changed part. Uncommitted changes
and new files are included. Exit status 2: git does not find the revision.
"""
import re
import subprocess
import sys
from pathlib import Path

# Each row contains the beginning of a path, and the folders of tests that a change of such a file affects. The first
# row that matches counts.
ROWS = [
    ("docs/reference/", ["abi"]),
    ("docs/", ["scripts"]),
    ("README.md", ["scripts"]), ("CONTRIBUTING.md", ["scripts"]), ("ARCHITECTURE.md", ["scripts"]),
    ("passes/", ["passes", "lit", "e2e/truth", "e2e/graphs"]),
    ("runtime/include/msleaks/abi/", ["abi", "runtime", "lit", "hooks", "collect", "trace", "e2e/kept", "e2e/truth"]),
    ("runtime/", ["runtime", "hooks", "e2e/run", "e2e/truth"]),
    ("hooks/cuda", ["hooks", "e2e/devices", "e2e/handles"]), ("hooks/hip", ["hooks", "e2e/devices", "e2e/handles"]),
    ("hooks/devices", ["hooks", "e2e/devices", "e2e/handles"]),
    ("hooks/ascend", ["hooks", "e2e/devices"]),
    ("hooks/opencl", ["hooks", "e2e/hooks", "e2e/graphs", "e2e/watch"]),
    ("hooks/counting", ["hooks", "e2e/graphs"]),
    ("hooks/", ["hooks", "e2e/hooks", "e2e/nasty", "e2e/devices"]),
    ("tools/python/", ["scripts", "e2e/python"]), ("tools/", ["verbs", "report", "e2e/run"]),
    ("driver/", ["e2e/run", "e2e/package"]),
    ("test/standins/", ["e2e/devices", "e2e/handles", "e2e/graphs"]),
    ("test/fuzz/", []),
    ("scripts/", ["scripts"]), ("bench/", ["scripts"]),
    ("cmake/", ["e2e/package"]),
]
# For a part of analysis: its folders of unit tests, if they have other names.
UNIT = {
    "base": ["command_line"], "result": ["report"], "text": ["report"], "reach": ["collect"], "compare": ["compare", "check"],
    "second_run": ["verify", "doctor"], "counts": ["graphs", "profiles"],
}
# For a part of analysis: the folders of tests with whole runs that also test this part, in addition to the unit tests.
RUNS = {
    "reach": ["e2e/run"], "collect": ["e2e/run"], "counts": ["e2e/graphs", "e2e/profiles"], "adapters": ["e2e/profiles"],
    "second_run": ["e2e/doctor"], "watch": ["e2e/watch"], "places": ["e2e/truth"], "live": ["e2e/user"],
    "analyzers": ["e2e/user", "e2e/guilty"], "findings": ["e2e/user", "e2e/guilty"], "report": ["e2e/guilty"],
}


def parts_that_see(cmake):
    """Returns {part: parts that may include its headers, directly or indirectly}. `cmake`: text of analysis/CMakeLists.txt."""
    sees = {name: rest.split(" SEES ")[1].split(" USES ")[0].split() if " SEES " in rest else []
            for name, rest in re.findall(r"^add_part\((\w+)([^)]*)\)", cmake, re.M)}
    seen_by = {name: {name} for name in sees}
    for _ in sees:
        for name, below in sees.items():
            for part in below:
                seen_by[part] |= seen_by[name]
    return seen_by


def folders_of(path, seen_by):
    """Returns the folders of tests that a change of this file affects. Some may not exist."""
    words = path.split("/")
    if words[0] == "analysis" and len(words) > 2:
        part = words[1]
        units = (folder for seeing in sorted(seen_by.get(part, {part})) for folder in UNIT.get(seeing, [seeing]))
        return list(units) + RUNS.get(part, [])
    if words[:2] == ["test", "unit"] and len(words) > 3:
        return [words[2]]
    if words[:2] == ["test", "e2e"] and len(words) > 3:
        return ["/".join(words[1:3])]
    if words[:2] == ["test", "lit"]:
        return ["lit"]
    return next((folders for beginning, folders in ROWS if path.startswith(beginning)), [])


def changed_files(repository, revision):
    def git(*words):
        return subprocess.run(["git", "-C", repository, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    base = git("merge-base", revision, "HEAD")[0]
    return git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")


def main(repository, revision):
    try:
        files = changed_files(repository, revision)
    except subprocess.CalledProcessError:
        print(f"affected_tests.py: git does not know '{revision}': name a commit or a branch", file=sys.stderr)
        return 2
    tests = Path(repository) / "test"
    seen_by = parts_that_see((Path(repository) / "analysis/CMakeLists.txt").read_text())
    found = {folder for file in files for folder in folders_of(file, seen_by)}
    for folder in sorted(found):
        where = tests / folder if folder == "lit" or folder.startswith("e2e/") else tests / "unit" / folder
        if (where / "CMakeLists.txt").exists():
            print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
