"""Keeps a block by each of some functions whose names, and whose files' names, have characters of many languages.

    languages.py FOLDER         FOLDER contains the files; each has one function, which has the name of the file
"""
import os
import sys

SIZE = 20000
blocks = []


def keep():
    blocks.append(bytearray(SIZE))


for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name)
    with open(path, encoding="utf-8") as source:
        names = {"keep": keep}
        exec(compile(source.read(), path, "exec"), names)
    function = next(value for key, value in names.items() if key not in ("keep", "__builtins__"))
    if "🔥" in name:  # no name of Python code may contain it, but generated code may
        function.__code__ = function.__code__.replace(co_name="🔥", **({"co_qualname": "🔥"} if sys.version_info >= (3, 11) else {}))
    function()
os._exit(0)  # the blocks are alive at the end
