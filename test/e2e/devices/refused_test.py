#!/usr/bin/env python3
"""Tests calls that the driver's stand-in refuses ($STANDIN_FAIL). The program sees the same status and the same last error as without
msleaks. For a refused allocation, msleaks records an event with the status. If a free is refused, msleaks records the block as alive
again. A refused launch, copy or fill is marked as failed.
   usage: refused_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, ascend, build_programs, device_leaks, equal, events_of, run, sources_for, standin
from msleaks_e2e import arguments, expect_same

BYTES = 4096
# {driver: (statuses, functions in the order of the program's calls)}. The three statuses of a driver mean "no memory",
# "invalid address" and "unknown error".
OF_RUNTIME = [f"cuda{name}" for name in ("Malloc", "MallocHost", "Memcpy", "MemcpyAsync", "Memset", "LaunchKernel", "Free", "FreeHost")]
REFUSED = {
    "cuda": ([2, 700, 999], OF_RUNTIME),
    "hip": ([2, 700, 999], [name.replace("cuda", "hip") for name in OF_RUNTIME]),
    "cuda_driver": ([2, 700, 999], ["cuMemAlloc_v2", "cuMemAllocHost_v2", "cuMemcpyHtoD_v2", "cuMemcpyHtoDAsync_v2", "cuMemsetD8_v2", "cuLaunchKernel",
                                    "cuMemFree_v2", "cuMemFreeHost"]),
    "cann": ([207001, 107000, 507899], ["aclrtMalloc", "aclrtMallocHost", "aclrtMemcpy", "aclrtMemcpyAsync", "aclrtMemset", "aclrtLaunchKernel", "aclrtFree",
                                        "aclrtFreeHost"])}


def built(driver, scratch):
    """Builds the stand-in. Returns the program's source, and the options with which the program is built."""
    cuda = STANDINS / "cuda"
    if driver == "cann":
        return PROGRAMS / "refused.c", ["-DUSES_ACL", f"-I{STANDINS}/cann", *ascend(scratch)]
    if driver == "cuda_driver":
        sources = [cuda / "libcuda_contexts.cpp", cuda / "libcuda_copies.cpp"]
        return PROGRAMS / "refused.c", ["-DUSES_DRIVER", standin(scratch, "libcuda.so.1", *sources, link=["-Wl,-Bsymbolic-functions"])]
    folder = sources_for(driver, [("cuda", "hip")], scratch, PROGRAMS / "refused.c", cuda / "cudart.cpp", cuda / "cuda_runtime_api.h")
    name = {"cuda": "libcudart.so.12", "hip": "libamdhip64.so.6"}[driver]
    return folder / "refused.c", [f"-I{folder}", standin(scratch, name, folder / "cudart.cpp")]


def expect_events(msleaks, folder, statuses):
    failed = [(event["heap"], event["size"], event["status"]) for event in events_of(msleaks, folder, "alloc-failed") if event["heap"] in ("device", "pinned")]
    equal("refused allocations", failed, [(heap, BYTES, status) for heap in ("device", "pinned") for status in statuses])
    blocks = [(event["heap"], "restored" in event["flags"]) for event in events_of(msleaks, folder, "alloc") if event["heap"] in ("device", "pinned")]
    equal("blocks", blocks, [("device", False), ("pinned", False), *[("device", True)] * 3, *[("pinned", True)] * 3])
    equal("failed", [event["status"] for event in events_of(msleaks, folder, "failed")], statuses * 4)  # 4 functions: two copies, a fill and a launch
    for kind, count in ("copy", 8), ("set", 4), ("launch", 4):
        equal(f"events of kind {kind}", len(events_of(msleaks, folder, kind)), count)


def asked_for(functions, statuses):
    refusals = ",".join(f"{function}:{nth}:{status}" for function in functions for nth, status in enumerate(statuses, 1))
    return {**os.environ, "STANDIN_FAIL": refusals}


def watched(msleaks, program, folder, functions, statuses):
    """Runs the program without and with msleaks. Checks that the program saw each status in both runs. Returns the report."""
    environment = asked_for(functions, statuses)
    plain = run([program], env=environment)
    lines = [int(line.split(": ")[1].split(",")[0]) for line in plain.stdout.splitlines()]
    equal("statuses alone", lines, [*statuses, 0] * len(functions))
    done, report = msleaks.run(folder, [program], env=environment)
    expect_same(plain, done)
    report.expect_account()
    return report


# Functions of Ascend that are not in the lists above, in the order of the program's calls. Some belong to the libraries below ACL.
BELOW_ACL = ["halMemAlloc", "halMemCreate", "aclrtMemcpy2d", "aclrtMemcpy2dAsync", "aclrtMemsetAsync", "rtKernelLaunch", "rtKernelLaunchWithFlag",
             "rtLaunchKernelByFuncHandleV3", "rtsLaunchKernelWithDevArgs", "Execute", "halMemRelease", "halMemFree", "aclrtMallocAlign32"]


def expect_below_acl(msleaks, folder, statuses):
    """Checks that refused calls create no block, and that refused launches are marked as failed."""
    failed = [(event["size"], event["status"]) for event in events_of(msleaks, folder, "alloc-failed") if event["heap"] == "device"]
    equal("refused allocations", failed, [(BYTES, status) for status in statuses] * 3)
    blocks = [(event["size"], "restored" in event["flags"]) for event in events_of(msleaks, folder, "alloc") if event["heap"] == "device"]
    equal("blocks", blocks, [(BYTES, False)] * 2 + [(0, True)] * 6 + [(BYTES, False)])
    equal("failed", [event["status"] for event in events_of(msleaks, folder, "failed")], statuses * 7)  # 7 functions: two copies, a fill and four launches
    # ATB launches no kernel for an operator that it refuses. So ATB adds one launch, and each other launch function adds four.
    for kind, count in ("copy", 8), ("set", 4), ("launch", 4 * 4 + 1), ("range-begin", 4), ("range-end", 4):
        equal(f"events of kind {kind}", len(events_of(msleaks, folder, kind)), count)


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    for driver, (statuses, functions) in REFUSED.items():
        here = f"{scratch}/{driver}"
        os.makedirs(here, exist_ok=True)
        source, options = built(driver, here)
        for name, program in build_programs(build, here, source, *options).items():
            folder = f"{here}/{name.replace(' ', '-')}"
            report = watched(msleaks, program, folder, functions, statuses)
            expect_events(msleaks, folder, statuses)
            equal(f"{driver}, {name}: leaks", device_leaks(report), [])
            print(f"{driver}, {name}: {len(functions)} functions")
    here = f"{scratch}/below_acl"
    os.makedirs(here, exist_ok=True)
    libraries = ascend(here)
    atb = standin(here, "libatb.so", STANDINS / "cann/atb.cpp", link=[libraries[0]])
    for name, program in build_programs(build, here, PROGRAMS / "refused_cann.c", f"-I{STANDINS}/cann", atb, *libraries, "-ldl").items():
        folder, statuses = f"{here}/{name.replace(' ', '-')}", REFUSED["cann"][0]
        report = watched(msleaks, program, folder, BELOW_ACL, statuses)
        expect_below_acl(msleaks, folder, statuses)
        equal(f"below ACL, {name}: leaks", device_leaks(report), [])
        print(f"below ACL, {name}: {len(BELOW_ACL)} functions")


if __name__ == "__main__":
    main()
