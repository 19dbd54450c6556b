#!/usr/bin/env python3
"""Tests `--watch tensor,START[:OUTPUT][,END]`. This option watches outputs of an operator of Ascend's library ATB, from the end of the
operator on, each time that the operator runs. The files contain the type and shape of an output.
   usage: tensor_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from content_test import read_file  # noqa: E402
from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, check, equal, events_of, run, standin  # noqa: E402
from msleaks_e2e import arguments, expect_same  # noqa: E402

SOURCE = PROGRAMS / "atb.c"
STEPS, TENSOR, OPERATOR = 3, 1 << 20, "LinearOperation"


def contents(msleaks, folder, program, watch):
    done, report = msleaks.run(folder, [program], [f"--watch={watch}"])
    expect_same(run([program]), done)
    report.expect_account()
    equal(f"--watch {watch}: tramples", report.json["watch"], [])
    return [(event["name"], event["operation"], event["digest"], event["file"]) for event in events_of(msleaks, folder, "content")]


def expect_output(msleaks, scratch, program):
    name, folder = f"{OPERATOR}:0", f"{scratch}/{Path(program).name}-first"
    found = contents(msleaks, folder, program, f"tensor,{OPERATOR}:0,ManyOperation,full-content")
    equal("names", {content[0] for content in found}, {name})
    # The content of the output differs from step to step.
    check(len({digest for _, operation, digest, _ in found if operation == OPERATOR}) == STEPS, f"contents: {found}")
    check(not any((operation or "").startswith("n") for _, operation, _, _ in found), f"behind the end: {found}")
    said, data = read_file(f"{folder}/watch/{found[0][3]}.safetensors", name, ("F32", [TENSOR // 4]))
    equal("operator and step", (said["operator"], said["step"], len(data)), (OPERATOR, "1", TENSOR))
    return len(found)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    folder = STANDINS / "cann"
    acl, driver, runtime = ascend(scratch)
    atb = standin(scratch, "libatb.so", folder / "atb.cpp", link=[acl])
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{folder}", atb, acl, driver, runtime).items():
        count = expect_output(msleaks, scratch, program)
        for number, watch in enumerate((f"tensor,{OPERATOR}:1", "tensor,NoOperation", "tensor")):
            equal(f"--watch {watch}", contents(msleaks, f"{scratch}/none-{number}", program, watch), [])
        limited = contents(msleaks, f"{scratch}/limited", program, f"tensor:16,{OPERATOR},,full-content")
        read_file(f"{scratch}/limited/watch/{limited[0][3]}.safetensors", f"{OPERATOR}:0", ("U8", [16]))
        print(f"{name}: {count} contents")


if __name__ == "__main__":
    main()
