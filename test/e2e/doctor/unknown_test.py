#!/usr/bin/env python3
"""Tests that `msleaks doctor` reports functions without a hook, statically linked device runtimes, and allocators other than libc's.
   usage: unknown_test.py BUILD SCRATCH LLVM
"""
from pathlib import Path

from patient import Patient, check, equal, expect_unseen, unseen

# {vendor: replacements in function names}. The test builds each vendor's stand-in from CUDA's stand-in with these replacements.
STATIC = {"hip": {"cuda": "hip"}, "acl": {"cudaMalloc": "aclrtMalloc", "cudaFree": "aclrtFree", "cuda": "aclrt"},
          "opencl": {"cudaMalloc": "clCreateBuffer", "cudaFree": "clReleaseMemObject", "cuda": "cl"}}
# Allocators that scripts/setup.sh installs from Debian. They define malloc itself, which has a hook.
ALLOCATORS = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4"}


def expect_drivers(patient):
    standin = patient.build("libcudart.so.12", "cuda.c", "-DSTANDIN", "-DLIBRARY", "-Wl,-soname,libcudart.so.12")
    program = patient.build("cuda", "cuda.c", standin, f"-Wl,-rpath,{patient.scratch}")
    answer = patient.examine(program, status=1)
    expect_unseen("driver", answer["cuda"], ["cudaLaunchKernelOfLaterVersion", "cudaMallocOfLaterVersion", "cudaMemcpyOfLaterVersion"], "no-row", "no hook", "CUDA")
    equal("driver: hooked", answer["cuda"]["hooked"], ["cudaFree", "cudaMalloc"])
    check("docs/hooks.md" in unseen(answer["cuda"])["cudaLaunchKernelOfLaterVersion"]["remedy"], "what to do")
    equal("the driver itself", answer["libcudart.so.12"]["unseen"], [])
    equal("the driver's functions", answer["libcudart.so.12"]["driver"], {"functions": 5, "hooked": 2, "unknown": ["cudaLaunchKernelOfLaterVersion", "cudaMallocOfLaterVersion", "cudaMemcpyOfLaterVersion"]})
    equal("the functions of a program", answer["cuda"]["driver"], None)


def expect_static_driver(patient):
    library = patient.examine(patient.build("static_cuda", "cuda.c", "-DSTANDIN"), status=0)["static_cuda"]
    check(any("linked into it statically" in note and "libcuda" in note for note in library["notes"]), f"static CUDA runtime: {library}")
    for vendor, names in STATIC.items():
        source, text = Path(patient.scratch) / f"{vendor}.c", (Path(__file__).parent / "programs/cuda.c").read_text()
        for ours, theirs in names.items():
            text = text.replace(ours, theirs)
        source.write_text(text)
        library = patient.examine(patient.build(f"static_{vendor}", source, "-DSTANDIN"), status=1)[f"static_{vendor}"]
        expect_unseen(f"static runtime: {vendor}", library, [names.get("cudaMalloc", "hipMalloc"), names.get("cudaFree", "hipFree")], "static-runtime", "statically")


def expect_system(patient):
    library = patient.examine(patient.build("system", "system.c"), status=1)["system"]
    expect_unseen("system", library, ["sbrk", "shmat"], "system-memory")


def expect_allocator(patient):
    shared = patient.build("libmimalloc.so.2", "allocator.c", "-DALLOCATOR", "-DLIBRARY")
    answer = patient.examine(patient.build("allocating", "allocator.c", shared), status=1)
    expect_unseen("shared allocator", answer["allocating"], ["mi_malloc"], "allocator", "mimalloc", "mappings")
    equal("the allocator itself", (answer["libmimalloc.so.2"]["allocator"], answer["libmimalloc.so.2"]["hooked"]), ("mimalloc", ["mmap", "munmap"]))
    breaks = patient.build("libbreaks.so", "breaks.c")
    library = patient.examine(patient.build("opener", "opener.c", "-ldl"), "x", breaks, status=0)["libbreaks.so"]
    equal("the program break: name", (library["allocator"], library["hooked"]), ("brk", ["free", "malloc"]))
    library = patient.examine(patient.build("with_allocator", "allocator.c", "-DALLOCATOR"), status=1)["with_allocator"]
    expect_unseen("static allocator", library, ["mi_malloc"], "allocator", "mimalloc")
    equal("static allocator: name", library["allocator"], "mimalloc")


def expect_real_allocators(patient):
    plain = patient.build("plain", "plain.c")
    for name, file in ALLOCATORS.items():
        found = [path for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib") for path in Path(folder).glob(f"**/{file}*")]
        check(found, f"no {file}: scripts/setup.sh installs it")
        program = patient.build(f"with_{name}", "plain.c", "-Wl,--no-as-needed", str(found[0]))
        answer = patient.examine(program, status=0)
        library = next(library for key, library in answer.items() if name in key and key != f"with_{name}")
        equal(name, library["allocator"], name)
        check(any("the hooks call its malloc" in note for note in library["notes"]), f"{name}: {library}")
        equal(f"{name}: hooked", answer[f"with_{name}"]["hooked"], ["free", "malloc"])
    equal("without", patient.examine(plain, status=0)["plain"]["allocator"], None)


def main():
    patient = Patient()
    expect_drivers(patient)
    expect_static_driver(patient)
    expect_system(patient)
    expect_allocator(patient)
    expect_real_allocators(patient)


main()
