#!/usr/bin/env python3
"""Tests programs that use another allocator than libc's: preloaded by the user, or linked. The report has each block once, with the
bytes that the program asked for. It does not have the mappings of the allocator as blocks.

    allocators_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, need, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "allocators.cpp"
LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2"}
FOLDER = Path("/usr/lib/x86_64-linux-gnu")  # scripts/setup.sh installs Debian's packages
BYTES = {"many": 5_000_000, "calloc": 3003, "realloc": 300007, "aligned_alloc": 4096, "memalign": 777, "new": 888, "aligned new": 999,
         "strdup": 39, "posix_memalign": 8192}
SCRIPT = """
import threading
kept = [bytearray(100_000) for _ in range(50)]  # line 3
thread = threading.Thread(target=lambda: [bytearray(300_000) for _ in range(20)])
thread.start()
thread.join()
print(len(kept))
"""


def lines_of(source):
    """Returns {line: way} by the comments of the program."""
    lines = source.read_text().splitlines()
    return {number: line.rsplit("// ", 1)[1] for number, line in enumerate(lines, 1) if line.rsplit("// ", 1)[-1] in BYTES}


def expect_blocks(name, report):
    report.expect_account()
    ways, kept = lines_of(PROGRAM), {}
    for row in report.alive():
        way = ways.get(row["site"].get("line")) if (row["site"].get("file") or "").endswith(PROGRAM.name) else None
        if way:
            kept[way] = kept.get(way, 0) + row["bytes"]
    check(kept == BYTES, f"{name}: {kept}")
    most = sum(BYTES.values())
    check(most <= report.heap_peak_bytes("host") <= most + 600_000, f"{name}: a peak of {report.heap_peak_bytes('host')} bytes, kept {most}")


def expect_program(msleaks, scratch, name, program, environment):
    alone = run([program], env=environment)
    check(alone.stdout == "kept\n", f"{name}: {alone}")
    done, report = msleaks.run(f"{scratch}/{name}.run", [program], env=environment)
    expect_same(alone, done)
    expect_blocks(name, report)


def expect_python(msleaks, scratch, name, environment):
    script = Path(scratch) / "script.py"
    script.write_text(SCRIPT)
    done, report = msleaks.run(f"{scratch}/{name}-python.run", ["/usr/bin/python3", script], env=environment)
    check(done.stdout == "50\n", f"{name}, Python: {done}")
    lines = [row for row in report.sites("peak") if row["site"].get("file") == str(script) and row["site"].get("line") == 3]
    total = sum(row["bytes"] for row in lines)
    check(5_000_000 <= total <= 5_050_000, f"{name}, Python: {total} bytes at the line")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    compiler, plain = [need("g++"), "-std=c++20", "-g", "-O1", PROGRAM, "-pthread", "-o"], f"{scratch}/plain"
    check(run([*compiler, plain]).returncode == 0, "the program does not compile")
    for name, file in LIBRARIES.items():
        library = FOLDER / file
        check(library.exists(), f"no {library}")
        preloaded = dict(os.environ, LD_PRELOAD=str(library))
        expect_program(msleaks, scratch, name, plain, preloaded)
        expect_python(msleaks, scratch, name, preloaded)
        linked = f"{scratch}/{name}"
        check(run([*compiler, linked, "-Wl,--no-as-needed", library]).returncode == 0, f"{name} does not link")
        expect_program(msleaks, scratch, f"{name}-linked", linked, None)
    print("each block once, with other allocators, too")


if __name__ == "__main__":
    main()
