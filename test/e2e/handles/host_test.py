#!/usr/bin/env python3
"""Runs a program that leaves descriptors, FILEs, folders and threads open. The program uses each function of libc that creates such a
handle. The report must have the right number, kind, source line and call path of these handles, and must not contain closed handles.
The program behaves as without msleaks.
   usage: host_test.py BUILD SCRATCH
"""
import os
from pathlib import Path

from msleaks_handles import PROGRAMS, compiled, expect_forgotten, forgotten_in
from msleaks_e2e import Msleaks, arguments, check, equal, need, run

SOURCE = PROGRAMS / "host.c"
LEAVES = '#include <fcntl.h>\nint main(void) { for (int i = 0; i < 30; ++i) open("/dev/null", O_RDONLY); return 0; }\n'


def expect_no_failure(msleaks, scratch):
    """Checks that open handles are a finding, but that they alone do not change the exit status (--error-exitcode)."""
    source = Path(scratch) / "leaves.c"
    source.write_text(LEAVES)
    done = run([need("gcc"), "-g", source, "-o", f"{scratch}/leaves"])
    check(done.returncode == 0, done.stderr)
    done, report = msleaks.run(f"{scratch}/leaves-run", [f"{scratch}/leaves"], options=["--error-exitcode", "9"])
    equal("exit status", done.returncode, 0)
    equal("findings", [(row["kind"], row["count"], row["evidence"]["handle"], row["site"]["line"]) for row in report.json["findings"]],
          [("handles", 30, "descriptor", 2)])


def expect_same_under_asan(msleaks, scratch):
    """Runs the program with AddressSanitizer, whose library defines functions with the same names as the hooks. The results must not
    change."""
    program = f"{scratch}/host-asan"
    if run([need("gcc"), "-g", "-O1", "-w", "-pthread", "-fsanitize=address", SOURCE, "-o", program]).returncode != 0:
        return print("no AddressSanitizer here")
    expect_forgotten(msleaks, f"{scratch}/asan", SOURCE, program)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in compiled(build, scratch, SOURCE).items():
        print("\n".join(line for line in run([program]).stdout.splitlines() if line.startswith("refused: ")))
        reports = expect_forgotten(msleaks, f"{scratch}/{name}", SOURCE, program)
        handles, mended = ({(finding["evidence"]["handle"], finding["site"]["line"]) for finding in report.json["findings"] if finding["kind"] == "handles"}
                           for report in reports)
        files = {(kind, line) for line, kind in forgotten_in(SOURCE) if kind == "FILE"}
        equal("findings about handles: only what libc's list of FILEs alone leads to", handles, files)
        equal("of the mended program", mended, set())
        source = SOURCE.read_text().splitlines()
        leaks = [finding["site"]["line"] for finding in reports[0].json["findings"] if finding["kind"] == "leak"]
        equal("leaks of FILEs, beside the findings about handles", [line for line in leaks if "fopen(" in source[line - 1]], [])
    expect_no_failure(msleaks, scratch)
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    expect_same_under_asan(msleaks, scratch)


if __name__ == "__main__":
    main()
