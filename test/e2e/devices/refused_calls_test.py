#!/usr/bin/env python3
"""Makes the calls of CUDA and HIP that refused_test.py does not make. The driver's stand-in refuses the first call of each function.
The program sees the same status as without msleaks. For a refused creation msleaks records no block and no handle. After a refused
free the block is still alive.
   usage: refused_calls_test.py BUILD SCRATCH
"""
import os
import re

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, device_leaks, equal, expect_golden, run, sources_for, standin
from msleaks_e2e import arguments, expect_same

STATUS = 999
OF_DRIVER = ("stream", "event", "context", "module", "graph", "plan")
CUDA = STANDINS / "cuda"


def built(part, here):
    """Builds the stand-ins. Returns the options with which the program is built."""
    if part == "hip":
        folder = sources_for(part, [("cuda", "hip")], here, CUDA / "cudart.cpp", CUDA / "cuda_runtime_api.h", STANDINS / "hip/amdhip.cpp")
        return ["-DOF_HIP", f"-I{folder}", standin(here, "libamdhip64.so.6", folder / "cudart.cpp", folder / "amdhip.cpp"), "-rdynamic"]
    if part == "thread":
        return ["-DOF_THREAD", f"-I{CUDA}", standin(here, "libcudart.so.12", CUDA / "cudart.cpp", CUDA / "cudart_per_thread.cpp")]
    driver = standin(here, "libcuda.so.1", CUDA / "libcuda.cpp", CUDA / "libcuda_memory.cpp")
    if part == "driver":
        return ["-DOF_DRIVER", driver]
    plans = standin(here, "libcufft.so.11", CUDA / "cufft.cpp")
    return ["-DOF_RUNTIME", standin(here, "libcudart.so.12", CUDA / "cudart_handles.cpp", link=[driver]), plans]


def expect_statuses(part, lines):
    """Checks that the first call of each function was refused. Returns {function: statuses}."""
    seen = {}
    for line in lines:
        function, status = line.split("(")[0], int(line.split(": ")[1])
        seen.setdefault(function, []).append(status)
    for function, statuses in seen.items():
        equal(f"{part}, {function}: statuses alone", statuses, [STATUS, 0][:len(statuses)])
    return seen


def main():
    build, scratch = arguments("build", "scratch")
    msleaks, source = Msleaks(build), PROGRAMS / "refused_calls.c"
    asked = set(re.findall(r"(?:TWICE|ONCE)\((\w+)\(", source.read_text()))
    forgotten = {"driver": ("event", 1), "runtime": ("event", 1)}
    for part in "driver", "runtime", "thread", "hip":
        here = f"{scratch}/{part}"
        os.makedirs(here, exist_ok=True)
        options = built(part, here)
        for name, program in build_programs(build, here, source, *options).items():
            symbols = {line.split()[-1].split("@")[0] for line in run(["nm", "-D", "--undefined-only", program]).stdout.splitlines() if line.split()}
            environment = {**os.environ, "STANDIN_FAIL": ",".join(f"{function}:1:{STATUS}" for function in sorted(asked & symbols))}
            plain = run([program], env=environment)
            seen = expect_statuses(part, plain.stdout.splitlines())
            equal(f"{part}: calls", set(seen), asked & symbols)
            folder = f"{here}/{name.replace(' ', '-')}"
            done, report = msleaks.run(folder, [program], env=environment)
            expect_same(plain, done)
            report.expect_account()
            if part != "runtime":  # the calls of this part create only handles, which are not in golden files
                expect_golden(msleaks, folder, f"refused_{part}", name)
            equal(f"{part}, {name}: leaks", device_leaks(report), [])
            handles = [(handle["kind"], handle["count"]) for handle in report.json["handles"] if handle["kind"] in OF_DRIVER]
            equal(f"{part}, {name}: handles", handles, [forgotten[part]] if part in forgotten else [])
            print(f"{part}, {name}: {len(seen)} functions")


if __name__ == "__main__":
    main()
