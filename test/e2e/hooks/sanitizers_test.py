#!/usr/bin/env python3
"""Checks that programs built with a sanitizer's shared library behave under msleaks-run as without it.

    sanitizers_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, need, run  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/sanitized.c"


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    clang = need("clang-22")
    runtimes = os.path.dirname(run([clang, "-print-file-name=libclang_rt.asan-x86_64.so"]).stdout.strip())
    builds = {
        "gcc-asan": [need("gcc"), "-fsanitize=address"],
        "gcc-tsan": [need("gcc"), "-fsanitize=thread"],
        "clang-asan": [clang, "-fsanitize=address", "-shared-libasan", f"-Wl,-rpath,{runtimes}"],
        "clang-asan-instrumented": [clang, "-fsanitize=address", "-shared-libasan", f"-Wl,-rpath,{runtimes}",
                                    f"-fpass-plugin={msleaks.plugin}"],
    }
    for name, command in builds.items():
        program = f"{scratch}/{name}"
        check(run([*command, "-g", SOURCE, "-o", program]).returncode == 0, f"{name} does not compile")
        plain = run([program])
        check(plain.stdout == "ran\n", f"{name} does not run alone: {plain}")
        folder = f"{scratch}/{name}.run"
        done, report = msleaks.run(folder, [program], ["--no-report"])
        expect_same(plain, done)
        if name.endswith("instrumented"):
            report.expect_account()
            pairs = sum(" size=100" in line for line in msleaks.output("dump", folder).splitlines())
            check(pairs == 10, f"{name}: {pairs} of 10 allocations are seen")
    print("as alone: " + ", ".join(builds))


if __name__ == "__main__":
    main()
