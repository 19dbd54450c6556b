#!/usr/bin/env python3
"""Tests the finding about a tensor of PyTorch that each step copies to a device, and its mended twin. The batches of the steps are none.
   usage: wrong_device_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, equal, standin
from msleaks_e2e import arguments, line_of, need_modules

PROGRAM = PROGRAMS / "wrong_device.py"
STEPS, BYTES = 12, 512 * 512 * 4


def findings_of(msleaks, scratch, name, command):
    done, report = msleaks.run(f"{scratch}/{name}", command)
    equal(f"{name}: output {done.stderr}", (done.returncode, done.stdout), (0, "trained\n"))
    report.expect_account()
    return [finding for finding in report.json["findings"] if finding["kind"] == "wrong-device"]


def main():
    build, scratch = arguments("build", "scratch")
    msleaks, python = Msleaks(build), "/usr/bin/python3"
    need_modules(python, "torch")
    os.makedirs(scratch, exist_ok=True)
    driver = standin(scratch, "libcuda.so.1", STANDINS / "cuda/libcuda_memory.cpp")
    runtime = standin(scratch, "libcudart.so.12", STANDINS / "cuda/cudart.cpp", link=[driver])
    command = [python, "-B", PROGRAM, runtime]
    found = findings_of(msleaks, scratch, "wrong", command)
    equal("findings", [(each["bytes"], each["count"], each["evidence"]["steps"]) for each in found], [((STEPS - 1) * BYTES, STEPS - 1, STEPS)])
    equal("place", (found[0]["site"]["file"], found[0]["site"]["line"]), (str(PROGRAM), line_of(PROGRAM, "# made here")))
    equal("findings of the mended program", findings_of(msleaks, scratch, "mended", [*command, "fixed"]), [])
    print(f"copied again: {found[0]['bytes']} B, {found[0]['advice']}")


if __name__ == "__main__":
    main()
