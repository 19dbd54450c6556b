#!/usr/bin/env python3
"""Checks that the parts of analysis/ include each other in one direction only, as analysis/CMakeLists.txt allows. Also checks that
they include no header of a higher layer.

    parts_test.py REPOSITORY
"""
import re
import sys
from pathlib import Path

PART = re.compile(r"^add_part\((\w+)(?: SEES ([\w ]+?))?(?: USES [^)]*)?\)", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
HIGHER = ("hooks", "tools", "driver")  # the folders of the layers above analysis/ (ARCHITECTURE.md)


def visible_parts(text):
    """Returns {part: parts that it may include}. CMakeLists.txt lists a part after all parts that it may include."""
    visible = {}
    for name, sees in PART.findall(text):
        direct = sees.split()
        unknown = [part for part in direct if part not in visible]
        if unknown:
            raise SystemExit(f"{name} sees {', '.join(unknown)}, which must be told before it")
        visible[name] = {name}.union(*(visible[part] for part in direct))
    return visible


def wrong_includes(analysis, visible):
    for file in sorted(analysis.glob("*/*.*")):
        part = file.parent.name
        for include in INCLUDE.findall(file.read_text()):
            words = include.split("/")
            if words[0] == "analysis" and words[1] not in visible[part]:
                yield f"{file}: {part} does not see {words[1]} ({include})"
            elif words[0] in HIGHER:
                yield f"{file}: analysis does not see {words[0]} ({include})"
            elif len(words) == 1 and not include.endswith(".inc") and not (file.parent / include).exists():
                yield f"{file}: {include} is no file of {part}"


def main():
    analysis = Path(sys.argv[1]) / "analysis"
    visible = visible_parts((analysis / "CMakeLists.txt").read_text())
    folders = {folder.name for folder in analysis.iterdir() if folder.is_dir()}
    wrong = [f"analysis/{name}: a folder and a part have one name" for name in folders ^ set(visible)]
    wrong += wrong_includes(analysis, visible)
    print("\n".join(wrong) or f"{len(visible)} parts: {' '.join(visible)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
