#!/usr/bin/env python3
"""Tests that `msleaks doctor` finds calls that bypass an existing hook, and names the libraries with such calls.
   usage: bypassed_test.py BUILD SCRATCH LLVM
"""
import subprocess

from patient import Patient, check, equal, expect_unseen, need, run, unseen

HEAP = ["free", "malloc"]


def expect_plain(patient):
    plain = patient.build("plain", "plain.c")
    for end in "", "abort", "kill", "quick":  # the ways in which the program ends
        library = patient.examine(plain, end, status=0)["plain"]
        equal(f"plain {end}", (library["program"], library["instrumented"], library["llvm"], library["hooked"], library["unseen"]),
              (True, False, None, HEAP, []))


def expect_opened(patient):
    opener, worker = patient.build("opener", "opener.c", "-ldl"), patient.build("libworker.so", "worker.c")
    equal("opened", patient.examine(opener, "x", worker, status=0)["libworker.so"]["hooked"], HEAP)
    for how in "d", "dc":  # with "c" the program closes the library again
        library = patient.examine(opener, how, worker, status=1)["libworker.so"]
        expect_unseen(f"deepbind {how}", library, HEAP, "deepbind", "RTLD_DEEPBIND", "libc.so.6")
    now = patient.build("libnow.so", "worker.c", "-Wl,-z,now")
    expect_unseen("deepbind, bound at once", patient.examine(opener, "dn", now, status=1)["libnow.so"], HEAP, "deepbind")
    expect_unseen("namespace", patient.examine(opener, "m", worker, status=1)["libworker.so"], HEAP, "namespace", "dlmopen")


def expect_own(patient):
    opener = patient.build("opener", "opener.c", "-ldl")
    for name, visibility, options, kind, word in (
        ("symbolic", "default", ["-Wl,-Bsymbolic"], "symbolic", "-Bsymbolic"),
        ("functions", "default", ["-Wl,-Bsymbolic-functions"], "bound-at-link", "-Bsymbolic-functions"),
        ("protected", "protected", [], "protected", "protected"),
        ("hidden", "hidden", [], "hidden", "hidden"),
    ):
        library = patient.build(f"lib{name}.so", "own.c", f'-DVISIBILITY="{visibility}"', *options)
        expect_unseen(name, patient.examine(opener, "x", library, status=1)[f"lib{name}.so"], HEAP, kind, word)
    symbolic = patient.build("libnothing.so", "worker.c", "-Wl,-Bsymbolic")
    library = patient.examine(opener, "x", symbolic, status=0)["libnothing.so"]
    equal("-Bsymbolic, and nothing of its own", (library["traits"], library["hooked"]), (["symbolic"], HEAP))
    exported = patient.build("libown.so", "own.c", '-DVISIBILITY="default"')
    library = patient.examine(opener, "x", exported, status=0)["libown.so"]
    equal("its own, behind the hooks", (library["hooked"], library["allocator"]), (HEAP, "own"))
    expect_unseen("its own, with RTLD_DEEPBIND", patient.examine(opener, "d", exported, status=1)["libown.so"], HEAP, "deepbind", "its own")


def expect_program(patient):
    """The dynamic linker finds the program's own malloc and free before the hook library's functions. So the calls bypass the
    hooks."""
    answer = patient.examine(patient.build("own", "own.c", '-DVISIBILITY="default"', "-DMAIN"), status=1)
    expect_unseen("a program's own", answer["own"], HEAP, "own")
    answer = patient.examine(patient.build("own_new", "own_new.cpp"), status=1)
    expect_unseen("operator new", answer["own_new"], ["_ZdlPv", "_ZdlPvm", "_Znwm"], "own")
    equal("what it asks", answer["own_new"]["hooked"], HEAP)
    shared = patient.build("libworker.so", "worker.c")
    answer = patient.examine(patient.build("linked", "own.c", '-DVISIBILITY="default"', "-DMAIN", "-Dwork=other", "-Wl,--no-as-needed", shared), status=1)
    expect_unseen("a library of such a program", answer["libworker.so"], HEAP, "before", "the program")


def expect_static(patient):
    static = patient.build("static", "plain.c", "-static")
    library = patient.examine(static, status=1)["static"]
    check({"malloc", "calloc", "realloc", "mmap"} <= set(unseen(library)), f"static: {sorted(unseen(library))}")
    check("linked statically" in unseen(library)["malloc"]["reason"], f"static: {library}")
    for options in ("-static-pie",), ("-static", "-s"):
        answer = patient.examine(patient.build("static", "plain.c", *options), status=1)["static"]
        equal(f"{options}: kinds", {function["kind"] for function in answer["unseen"]}, {"static"})
    library = patient.examine(patient.build("new", "library_new.cpp", "-static-libstdc++", "-static-libgcc"), status=0)["new"]
    check("malloc" in library["hooked"] and any("C++ library" in note for note in library["notes"]), f"the C++ library is static: {library}")


def expect_sanitizer(patient):
    library = patient.examine(patient.build("asan", "plain.c", "-fsanitize=address"), status=1)["asan"]
    expect_unseen("sanitizer", library, HEAP, "sanitizer", "libasan")


def main():
    patient = Patient()
    expect_plain(patient)
    expect_opened(patient)
    expect_own(patient)
    expect_program(patient)
    expect_static(patient)
    expect_sanitizer(patient)


main()
