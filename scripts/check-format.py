#!/usr/bin/env python3
"""Checks that clang-format-22 would not change the repository's C++ files (.clang-format). test/unformatted.txt lists files
that are not formatted yet. No new file may be listed.

    check-format.py [FILE...]     all files of the repository, unless some are named

Exit status 77: there is no clang-format-22.
"""
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "test/unformatted.txt"
PROGRAM = "clang-format-22"
SKIPPED = 77
AT_ONCE = 40  # largest number of files in one call of clang-format


def is_ours(path):
    """Whether the file is checked. Files in test/lit are not checked: the tests expect certain line numbers, and lines may be long."""
    return path.suffix in (".cpp", ".h") and path.parts[:2] != ("test", "lit")


def our_files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    paths = [Path(name) for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if is_ours(path) and (ROOT / path).is_file()]


def differing(paths):
    """Returns the files that clang-format would change."""
    def is_different(path):
        return subprocess.run([PROGRAM, "--dry-run", "-Werror", "--ferror-limit=1", path], cwd=ROOT, stderr=subprocess.DEVNULL).returncode != 0

    def some_different(some):
        command = [PROGRAM, "--dry-run", "-Werror", "--ferror-limit=1", *some]
        clean = subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 0
        return [] if clean else [path for path in some if is_different(path)]

    groups = [paths[at:at + AT_ONCE] for at in range(0, len(paths), AT_ONCE)]
    with ThreadPoolExecutor(2) as pool:
        return {path for found in pool.map(some_different, groups) for path in found}


def complaints(paths, different, excused):
    """Yields a message for each file that is wrongly formatted or wrongly listed. `paths`: the checked files."""
    for path in sorted(different - excused):
        yield f"{path}: {PROGRAM} lays it out otherwise; run {PROGRAM} -i {path}"
    for path in sorted((excused & set(paths)) - different):
        yield f"{path}: it is formatted now; remove its line from {LIST.name}"


def main():
    if not shutil.which(PROGRAM):
        print(f"skipped: no {PROGRAM}")
        return SKIPPED
    excused = {Path(line) for line in LIST.read_text().split("\n") if line and not line.startswith("#")}
    named = [Path(name).resolve().relative_to(ROOT) for name in sys.argv[1:]]
    paths = [path for path in named if is_ours(path)] if named else our_files()
    wrong = list(complaints(paths, differing(paths), excused))
    if not named:
        wrong += [f"{path}: it is gone; remove its line from {LIST.name}" for path in sorted(excused - set(paths))]
    print("\n".join(wrong) or f"{len(paths)} files, {len(excused)} of them not formatted yet")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
