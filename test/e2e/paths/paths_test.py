#!/usr/bin/env python3
"""Compares the call paths of allocations with those of libunwind, in small programs. Each path must be equal, call by call, or be
marked as incomplete.

    paths_test.py BUILD SCRATCH [PROGRAM...]     without PROGRAM, tests all programs

The programs are compiled by gcc at -O0 and -O2, and by clang with the plugin at -O2.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from witness import HERE, Witness, in_compiled_code, in_wrong_tables, nowhere, print_header  # noqa: E402
from msleaks_e2e import arguments, check, need, run  # noqa: E402

# {program: (N, where a path may be incomplete)}. One allocation in N is compared.
PROGRAMS = {
    "templates.cpp": (3, nowhere),
    "handlers.c": (2, in_wrong_tables),
    "fibers.c": (3, nowhere),
    "jit.c": (2, in_compiled_code),
}
# Without -fno-builtin the compiler may delete an unused allocation.
FLAGS = ("-fno-builtin", "-pthread")


def compile_plain(source, output, optimisation):
    compiler = ["gcc"] if source.suffix == ".c" else ["g++", "-std=c++20"]
    need(compiler[0])
    made = run([*compiler, optimisation, *FLAGS, source, "-o", output])
    check(made.returncode == 0, made.stderr)


def compare(witness, name):
    source, program = HERE / "programs" / name, witness.scratch / Path(name).stem
    one_in, unfinished = PROGRAMS[name]
    for optimisation in ("-O0", "-O2"):
        compile_plain(source, program, optimisation)
        witness.expect(f"{name} {optimisation}", [witness.sample([program], one_in)], unfinished)
    witness.msleaks.compile(source, program, "-pthread", flags=("-O2", *FLAGS, "-w"))
    witness.expect(f"{name} -O2, instrumented", [witness.sample([program], one_in)], unfinished)


def expect_that_a_difference_is_seen(witness):
    """Checks that the comparison finds a difference. Changes the last word of the samples, which is the outermost call of the last
    sample."""
    (written,) = (witness.scratch / "witnessed").iterdir()
    content = bytearray(written.read_bytes())
    content[-8] ^= 1
    written.write_bytes(content)
    seen = witness.compare()
    check(seen["different"] == 1, f"one call was changed, and {seen['different']} paths are different")


def main():
    build, scratch = arguments("build", "scratch")
    witness = Witness(build, scratch)
    print_header()
    for name in sys.argv[3:] or PROGRAMS:
        compare(witness, name)
    expect_that_a_difference_is_seen(witness)


if __name__ == "__main__":
    main()
