#!/usr/bin/env python3
"""Runs torch_compile.py, which makes PyTorch compile a function for each shape, and the mended program. The finding must name the line
of the call, and the number of compilations. The mended program must not have it. Needs PyTorch 2.

    torch_compile_test.py BUILD SCRATCH PYTHON
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, need_modules  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/torch_compile.py"
SHAPES = 5


def recompiles(msleaks, python, scratch, *options):
    _, report = msleaks.run(f"{scratch}/compile{''.join(options)}", [python, "-B", PROGRAM, *options])
    report.expect_account()
    return [found for found in report.json["findings"] if found["kind"] == "recompiles"]


def main():
    build, scratch, python = arguments("build", "scratch", "python")
    need_modules(python, "torch._dynamo")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    found = recompiles(msleaks, python, scratch)
    equal("findings", [(each["site"]["file"], each["site"]["line"], each["evidence"]["compilations"]) for each in found],
          [(str(PROGRAM), line_of(PROGRAM, "compiled here"), SHAPES)])
    check(found[0]["bytes"] > 0 and found[0]["saves_ns"] > 0, f"{found[0]}")
    check("dynamic=True" in found[0]["advice"], found[0]["advice"])
    equal("findings of the mended program", recompiles(msleaks, python, scratch, "--fixed"), [])
    print(f"{SHAPES} compilations, the later ones keep {found[0]['bytes']} bytes in {found[0]['count']} blocks")


if __name__ == "__main__":
    main()
