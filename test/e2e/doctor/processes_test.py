#!/usr/bin/env python3
"""Tests that `msleaks doctor` follows child processes and reports programs that cannot be run. Also tests doctor's stdout and stderr.
   usage: processes_test.py BUILD SCRATCH LLVM
"""
import os
from pathlib import Path

from patient import Patient, check, equal, expect_unseen, run


def expect_children(patient):
    starter, plain = patient.build("starter", "starter.c"), patient.build("plain", "plain.c")
    answer = patient.examine(starter, "keep", plain, status=0)
    equal("a child", (answer["starter"]["program"], answer["plain"]["program"], answer["plain"]["hooked"]), (True, True, ["free", "malloc"]))
    answer = patient.examine(starter, "clear", plain, status=1)
    expect_unseen("an empty environment", answer["plain"], ["malloc"], "not-loaded", "LD_PRELOAD")
    script = Path(patient.scratch) / "script"
    script.write_text(f"{plain}\nexit 3\n")  # the file has no #! line, so a shell runs it
    script.chmod(0o755)
    check("plain" in patient.examine(script, status=0), "a script")


def expect_threads(patient):
    """Any thread can end the process, by a return, a signal or an exec. doctor reads the process's memory before the process ends."""
    threads, plain = patient.build("threads", "threads.c", "-pthread"), patient.build("plain", "plain.c")
    for _ in range(20):
        for end in "leader", "kill":
            equal(f"threads {end}", patient.examine(threads, end, status=0)["threads"]["hooked"], ["free", "malloc"])
    answer = patient.examine(threads, "exec", plain, status=0)
    equal("threads exec", (answer["threads"]["hooked"], answer["plain"]["hooked"]), (["free", "malloc"], ["free", "malloc"]))


def expect_hooks(patient):
    """If a function has a hook that the user wrote, doctor reports the function as hooked."""
    source = Path(patient.scratch) / "own_hook.cpp"
    source.write_text('extern "C" int cudaMallocOfLaterVersion(void **, unsigned long) { return 1; }\n')
    hooks = patient.build("libown_hook.so", source)
    standin = patient.build("libcudart.so.12", "cuda.c", "-DSTANDIN", "-DLIBRARY", "-Wl,-soname,libcudart.so.12")
    program = patient.build("cuda", "cuda.c", standin, f"-Wl,-rpath,{patient.scratch}")
    answer = patient.examine(program, status=1, options=["--hooks", hooks])
    check("cudaMallocOfLaterVersion" in answer["cuda"]["hooked"], f"hooks of the user's own: {answer['cuda']}")
    left = [function["symbol"] for function in answer["cuda"]["unseen"]]
    equal("what is left", left, ["cudaLaunchKernelOfLaterVersion", "cudaMemcpyOfLaterVersion"])


def expect_text(patient):
    opener, worker = patient.build("opener", "opener.c", "-ldl"), patient.build("libworker.so", "worker.c")
    done = run([patient.msleaks.bin / "msleaks", "doctor", "--", opener, "d", worker], env={**os.environ, "COLUMNS": "80"})
    equal("status", done.returncode, 1)
    equal("what the program prints", done.stderr, "opened\n")
    for text in ("ran     1 process; the program ended with status 0\n", "unseen  2 functions in 1 of ",
                 f"{worker}\nseen    not instrumented", "unseen  free, malloc: it was opened with RTLD_DEEPBIND", "\n  do    open it without"):
        check(text in done.stdout, f"no '{text}' in:\n{done.stdout}")
    check(all(len(line) <= 80 for line in done.stdout.splitlines() if "/" not in line), f"wide lines:\n{done.stdout}")
    equal("the whole is clean", done.stdout.count("unseen  "), 2)


def expect_errors(patient):
    text = Path(patient.scratch) / "text"
    text.write_text("no program")
    for what, words, status, message in (
        ("no such program", ["--", "/no/such"], 3, "/no/such: No such file"),
        ("not executable", ["--", str(text)], 3, "Permission denied"),
        ("no program at all", [], 2, "PROGRAM"),
        ("no such option", ["--jsn", "--", "true"], 2, "--jsn"),
        ("no such hooks", ["--hooks", "/no/hooks.so", "--", "true"], 3, "/no/hooks.so"),
        ("hooks that are none", ["--hooks", str(text), "--", "true"], 3, "is not an ELF file"),
    ):
        done = run([patient.msleaks.bin / "msleaks", "doctor", *words])
        equal(f"{what}: {done.stderr}", (done.returncode, message in done.stderr, done.stderr.count("\n"), done.stdout), (status, True, 1, ""))


def main():
    patient = Patient()
    expect_children(patient)
    expect_threads(patient)
    expect_hooks(patient)
    expect_text(patient)
    expect_errors(patient)


main()
