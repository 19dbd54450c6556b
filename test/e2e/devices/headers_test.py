#!/usr/bin/env python3
"""Hooks and stand-ins are declared as the vendors declare them: built with their headers, a prototype that differs does not compile.
   usage: headers_test.py BUILD SCRATCH
"""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, arguments, check, need, run, skip  # noqa: E402


def fetched(vendor):
    """The option that names the folder of the vendor's headers, unpacked once."""
    done = run([REPOSITORY / f"test/standins/{vendor}/headers.sh"])
    if done.returncode == 77:
        skip(done.stderr.strip().splitlines()[-1] if done.stderr else "headers cannot be had")
    check(done.returncode == 0, done.stderr)
    return f"-I{done.stdout.splitlines()[-1]}"


def builds(source, *options):
    return run([need("g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", f"-I{REPOSITORY}/runtime/include", "-DMSL_VENDOR_HEADERS", *options, source])


def expect_built(whose, *words):
    options, sources = [word for word in words if word.startswith("-")], [word for word in words if not word.startswith("-")]
    for source in sources:
        done = builds(REPOSITORY / source, *options)
        check(done.returncode == 0, f"{source} does not build with {whose} headers:\n{done.stderr}")


def main():
    _, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    expect_built("HIP's", fetched("hip"), "-D__HIP_PLATFORM_AMD__", "hooks/hip.cpp", *(f"hooks/hip_{part}.cpp" for part in ("array_copies", "arrays", "copies", "graphs", "handles", "memory", "registered")))
    include = fetched("cuda")
    hooks = [f"hooks/cuda_{part}.cpp" for part in ("array_copies", "arrays", "contexts", "copies", "driver", "graphs", "handles", "memory", "nvml", "runtime")]
    expect_built("CUDA's", include, *hooks, *(f"test/standins/cuda/cudart{part}.cpp" for part in ("", "_arrays", "_capture", "_per_thread")))
    # It would be noticed.
    wrong = Path(scratch) / "wrong.cpp"
    text = (REPOSITORY / "hooks/cuda_runtime.cpp").read_text()
    check("cudaMalloc, (void **, size_t)" in text, "cudaMalloc has moved")
    wrong.write_text(text.replace("cudaMalloc, (void **, size_t)", "cudaMalloc, (void **, int)"))
    check(builds(wrong, include).returncode != 0, "a wrong prototype compiles")


if __name__ == "__main__":
    main()
