#!/usr/bin/env python3
"""Checks that no two classes in one program have the same qualified name. The linker would use the functions of only one of
them, without an error.

    one_definition_test.py REPOSITORY
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

# All code of these folders is linked into one program.
FOLDERS = ("analysis", "tools", "driver")

# Matches text whose braces do not count: comments, string literals, and preprocessor lines. A preprocessor line may contain only one
# brace of a pair.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                     r'\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                     re.S | re.M)
BRACE = re.compile(r"[{};]")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*((?:inline\s+|[\w:])*)\s*$")
CLASS = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum(?:\s+class)?)\s+(\w+(?:::\w+)*(?:<.*>)?)"
                   r"(?:\s+final)?\s*(?:(?<!:):(?!:).*)?$", re.S)


def defined_classes(text):
    """Returns the qualified names of the classes that a file defines with external linkage. A class in an unnamed namespace or in a
    function is local to the file."""
    text = NO_CODE.sub(" ", text)
    scopes, begin = [], 0
    for brace in BRACE.finditer(text):
        head, begin = text[begin:brace.start()].strip(), brace.end()
        if brace[0] == "}" and scopes:
            scopes.pop()
        elif brace[0] == "{":
            space, kind = NAMESPACE.search(head), CLASS.search(head)
            if space:
                scopes.append(space[1].replace("inline ", "").strip() or None)
            elif kind and "(" not in head:
                scopes.append(kind[1])
                if None not in scopes:
                    yield "::".join(scopes)
            else:
                scopes.append(None)


def main():
    files = defaultdict(set)
    repository = Path(sys.argv[1])
    for folder in FOLDERS:
        for file in sorted((repository / folder).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                for name in defined_classes(file.read_text()):
                    files[name].add(str(file.relative_to(repository)))
    twice = {name: sorted(where) for name, where in files.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(where)}: give one of them another name")
    print(f"{len(files)} classes")
    return 1 if twice or len(files) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
