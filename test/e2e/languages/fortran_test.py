#!/usr/bin/env python3
"""flang compiles a Fortran program with the plugin. The report must show the arrays that are alive at the end, and no others.

    fortran_test.py BUILD SCRATCH LLVM

For an allocatable variable, flang emits a call of malloc, which the plugin instruments. For a pointer variable, flang emits a call of
the Fortran runtime, which was compiled without the plugin. In this case a hook records the block at the runtime's function.
"""
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, line_of, run, skip  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/weights.f90"


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    flang = shutil.which(f"flang-{llvm}") or shutil.which(f"flang-new-{llvm}") or skip(
        f"no flang-{llvm} on this machine (Debian's package is not installed by scripts/setup.sh: it takes 900 MB)")
    msleaks = Msleaks(build, llvm)
    for optimisation in ("-O0", "-O2"):
        plain, program = f"{scratch}/plain{optimisation}", f"{scratch}/weights{optimisation}"
        for output, plugin in ((plain, []), (program, [f"-fpass-plugin={msleaks.plugin}"])):
            done = run([flang, "-g", optimisation, *plugin, SOURCE, "-o", output], cwd=scratch)  # flang writes .mod files to cwd
            check(done.returncode == 0, f"flang {optimisation}: {done.stderr}")
        alone = run([plain])
        check(alone.stdout.split() == ["9000.0", "12000.0"], f"the program prints {alone.stdout}")
        expect_same(alone, run([program]), stderr=True)
        watched, report = msleaks.run(f"{scratch}/run{optimisation}", [program], ["--no-report"])
        expect_same(alone, watched, stderr=True)
        report.expect_account()
        found = {(row["site"]["line"], row["bytes"], row["count"]) for row in report.alive() if (row["site"]["file"] or "").endswith(SOURCE.name)}
        wanted = {(line_of(SOURCE, "allocate(weights"), 12000, 1)}
        check(found == wanted, f"{optimisation}: alive at the end {found}, expected {wanted}")
        in_runtime = [row for row in report.alive() if row["site"]["function"] == "_FortranAPointerAllocate"]
        check(sum(row["count"] for row in in_runtime) == 1 and 16000 <= in_runtime[0]["bytes"] < 16100, f"{optimisation}: lost(:) is {in_runtime}")
    print(f"{flang}: two of four arrays alive at the end, one by its line, one by the runtime's function")


if __name__ == "__main__":
    main()
