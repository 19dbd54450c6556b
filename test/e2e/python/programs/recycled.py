"""Runs many functions of real files. Each function is deleted before the next one is made, so Python uses the addresses of its code
again. Function NUMBER keeps NUMBER % 3 + 1 blocks.

    recycled.py FOLDER COUNT        FOLDER contains `plugin_NUMBER.py`, each with one function `work_NUMBER`
"""
import os
import sys

SIZE = 20000
blocks = []


def keep(count):
    for _ in range(count):
        blocks.append(bytearray(SIZE))


def load(folder, number):
    file = f"{folder}/plugin_{number:04}.py"
    with open(file) as source:
        names = {"keep": keep}
        exec(compile(source.read(), file, "exec"), names)
    return names[f"work_{number:04}"]


addresses = set()
for number in range(int(sys.argv[2])):
    function = load(sys.argv[1], number)
    addresses.add(id(function.__code__))
    function(number % 3 + 1)
    del function
print(len(addresses), flush=True)
os._exit(0)  # the blocks are alive at the end
