#!/usr/bin/env python3
"""Tests the rows of the part OBJECTS of the table of functions: textures, pools, notifies and other objects. The program and the
driver's stand-in are made of the rows. So this test fails if a hook does not do what its row says. Prototypes are compared with the
drivers' headers by devices-headers.
   usage: objects_test.py BUILD SCRATCH cuda|hip|cann
"""
import os
from collections import Counter

from msleaks_handles import PROGRAMS
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, expect_same, need, run

STANDIN = REPOSITORY / "test/standins/common/row_objects.cpp"
# {kind: (how many functions make such an object, how many destroy it)}
KINDS = {
    "cuda": {"texture": (2, 2), "surface": (2, 2), "memory_pool": (4, 2), "linker": (1, 1), "external_memory": (2, 2), "external_semaphore": (2, 2),
             "green_context": (2, 2), "event": (2, 0)},
    "hip": {"texture": (2, 2), "surface": (1, 1), "memory_pool": (2, 1), "linker": (1, 1), "external_memory": (1, 1), "external_semaphore": (1, 1), "event": (1, 0)},
    "cann": {"notify": (3, 2), "label": (2, 2), "tensor_desc": (1, 1), "data_buffer": (1, 1), "memory_pool": (1, 1)}}
LIBRARY = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6", "cann": "libascendcl.so"}
ROWS = {"cuda": "cuda", "hip": "hip", "cann": "acl"}


def compiled(*command):
    done = run(command)
    check(done.returncode == 0, done.stderr)


def main():
    build, scratch, vendor = arguments("build", "scratch", "vendor")
    os.makedirs(scratch, exist_ok=True)
    library, program = f"{scratch}/{LIBRARY[vendor]}", f"{scratch}/objects"
    options = ["-std=c++20", "-g", "-w", f"-I{REPOSITORY}/runtime/include", f"-I{REPOSITORY}/hooks", f"-I{REPOSITORY}/test/standins", f'-DSTANDIN_TYPES="{vendor}/rows.h"',
               f'-DSTANDIN_ROWS="msleaks/abi/functions/{ROWS[vendor]}.def"']
    compiled(need("g++"), *options, "-shared", "-fPIC", STANDIN, "-o", library, f"-Wl,-soname,{LIBRARY[vendor]}")
    compiled(need("g++"), *options, PROGRAMS / "row_objects.cpp", library, "-o", program, f"-Wl,-rpath,{scratch}")
    plain = run([program])
    equal("the program's status", plain.returncode, 0)
    done, report = Msleaks(build).run(f"{scratch}/run", [program])
    expect_same(plain, done)
    left = Counter()
    for row in report.json["handles"]:
        left[row["kind"]] += row["count"]
    expected = {kind: 2 * makers - destroyers for kind, (makers, destroyers) in KINDS[vendor].items()}
    equal("objects that stay open", {kind: left[kind] for kind in expected}, expected)
    print(f"{vendor}: {expected}")


if __name__ == "__main__":
    main()
