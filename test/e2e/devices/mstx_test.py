#!/usr/bin/env python3
"""MSTX, by a stand-in of its header: steps, ranges, marks, and a framework's pool, whose parts are the framework's. Where CANN is, the name that
torch_npu and MindSpore look for is in LD_PRELOAD.   usage: mstx_test.py BUILD SCRATCH
"""
import os
import shutil

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, equal, events_of, watched
from msleaks_e2e import arguments, line_of, run

SOURCE = PROGRAMS / "mstx.c"
SEGMENT, PART = 1 << 20, 4096


def expect_name(msleaks, scratch):
    command = [msleaks.bin / "msleaks-run", "--no-report", "-o", f"{scratch}/name", "--", "sh", "-c", "echo $LD_PRELOAD; ls -l $(echo $LD_PRELOAD | tr : ' ') >/dev/null"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND")}
    for environment, is_there in (plain, False), (dict(plain, ASCEND_HOME_PATH="/usr/local/Ascend"), True):
        shutil.rmtree(f"{scratch}/name", ignore_errors=True)
        done = run(command, env=environment)
        equal(f"libascend_kernel_hook.so in LD_PRELOAD {done.stdout} {done.stderr}", (done.stdout.strip().endswith("/libascend_kernel_hook.so"), done.returncode), (is_there, 0))


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    folder = STANDINS / "cann"
    acl, driver, runtime = ascend(scratch)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE, f"-I{folder}", acl, driver, runtime, "-ldl").items():
        folder_of_run, report = watched(msleaks, scratch, program)
        equal(f"{name}: steps", [event["number"] for event in events_of(msleaks, folder_of_run, "step")], [1, 2])
        equal(f"{name}: ranges", [event["label"] for event in events_of(msleaks, folder_of_run, "range-begin")], ["step start"] * 2)
        equal(f"{name}: marks", [event["label"] for event in events_of(msleaks, folder_of_run, "mark")], ["aclInit"] + ["in a step"] * 2 + ["all reduce"])
        parts = [(event["heap"], event["size"]) for event in events_of(msleaks, folder_of_run, "alloc") if event["heap"] == "pool"]
        equal(f"{name}: parts of the pool", parts, [("pool", PART)] * 3)
        equal(f"{name}: parts given back", len([event for event in events_of(msleaks, folder_of_run, "free") if event["heap"] == "pool"]), 2)
        left = [(line["bytes"], line["count"], line["site"]["line"]) for line in report.json["leaks"]["pool"]["by_site"]]
        equal(f"{name}: forgotten", left, [(PART, 1, line_of(SOURCE, "// handed out"))])
        owners = str([section["rows"] for section in report.json["sections"] if section["name"] == "owners"])
        equal(f"{name}: owner", "ptaCaching" in owners, True)
        print(f"{name}: {left}")
    expect_name(msleaks, scratch)


if __name__ == "__main__":
    main()
