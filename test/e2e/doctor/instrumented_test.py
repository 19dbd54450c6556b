#!/usr/bin/env python3
"""Tests `msleaks doctor` on code that was compiled with the plugin. The calls of this code are recorded even if they bypass the
hooks, so doctor does not list them. Doctor lists them only where msleaks' runtime is absent: in another namespace of the dynamic
linker, and in a static program without the runtime.
   usage: instrumented_test.py BUILD SCRATCH LLVM
"""
import subprocess

from patient import Patient, check, equal, expect_unseen, need, run

HEAP = ["free", "malloc"]


def expect_versions(patient):
    llvm = patient.msleaks.llvm
    library = patient.examine(patient.instrument("instrumented", "plain.c"), status=0)["instrumented"]
    equal("instrumented", (library["instrumented"], library["hooked"], library["unseen"]), (True, HEAP, []))
    check(library["llvm"].startswith(f"{llvm}.") and library["pass"], f"versions: {library}")
    stripped = patient.instrument("stripped", "plain.c", "-s")
    equal("stripped", patient.examine(stripped, status=0)["stripped"]["llvm"], library["llvm"])


def expect_recorded(patient):
    opener = patient.build("opener", "opener.c", "-ldl")
    worker = patient.instrument("libworker.so", "worker.c", "-shared", "-fPIC")
    library = patient.examine(opener, "d", worker, status=0)["libworker.so"]
    check(library["instrumented"] and any("RTLD_DEEPBIND" in note for note in library["notes"]), f"deepbind: {library}")
    equal("deepbind: traits", library["traits"], ["deepbind"])
    symbolic = patient.instrument("libsymbolic.so", "own.c", "-shared", "-fPIC", '-DVISIBILITY="default"', "-Wl,-Bsymbolic")
    library = patient.examine(opener, "x", symbolic, status=0)["libsymbolic.so"]
    check(any("-Bsymbolic" in note for note in library["notes"]), f"symbolic: {library}")
    # dlmopen loads the library into another namespace of the dynamic linker, which contains no msleaks runtime.
    expect_unseen("namespace", patient.examine(opener, "m", worker, status=1)["libworker.so"], HEAP, "namespace")


def expect_static(patient):
    plain = patient.instrument("static", "plain.c", "-static")
    library = patient.examine(plain, status=1)["static"]
    check(library["instrumented"] and {function["kind"] for function in library["unseen"]} == {"static"}, f"static: {library}")
    archive = patient.msleaks.bin.parent / "lib/libmsleaks_rt.a"
    whole = patient.instrument("whole", "plain.c", "-static", "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive")
    library = patient.examine(whole, status=0)["whole"]
    check(any("runtime of msleaks" in note for note in library["notes"]), f"static, with the runtime: {library}")


def main():
    patient = Patient()
    expect_versions(patient)
    expect_recorded(patient)
    expect_static(patient)


main()
