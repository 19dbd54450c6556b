#!/usr/bin/env python3
"""Tests the ledger of device memory with NVML, NVIDIA's management library. If the program has initialised NVML, the ledger shows the
reserved bytes that NVML reports, beside the driver's bytes. The reserved bytes are those of the device that the thread uses. For a
MIG instance (a part of a GPU), NVML reports no reserved bytes. msleaks must not initialise NVML itself.
   usage: nvml_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, compile, equal, expect_driver, expect_same, run, standin
from msleaks_e2e import arguments, need

RESERVED = 5 << 20  # bytes that the driver reserves, according to NVML's stand-in
MANAGER = [("manager", 1, RESERVED, RESERVED)]


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    cuda = STANDINS / "cuda"
    nvml = standin(scratch, "libnvidia-ml.so.1", cuda / "nvml.cpp", link=["-ldl"])
    drivers = {"runtime": (standin(scratch, "libcudart.so.12", cuda / "cudart.cpp"), []),
               "driver": (standin(scratch, "libcuda.so.1", cuda / "libcuda_contexts.cpp", link=["-Wl,-Bsymbolic-functions"]), ["-DUSES_DRIVER"])}
    msleaks = Msleaks(build)
    for way, (driver, options) in drivers.items():
        program = f"{scratch}/{way}"
        compile(need("gcc"), "-g", *options, PROGRAMS / "nvml.c", "-o", program, nvml, driver, f"-Wl,-rpath,{scratch}")
        for name, arguments_, environment, expected in [("begun", [], {}, MANAGER), ("not-begun", ["no"], {}, []), ("partitioned", [], {"STANDIN_MIG": "1"}, [])]:
            environment = {**os.environ, **environment}
            plain = run([program, *arguments_], env=environment)
            done, report = msleaks.run(f"{scratch}/{way}-{name}", [program, *arguments_], env=environment)
            expect_same(plain, done)
            expect_driver(report, 1)
            lines = [(line["source"], line["device"], line["bytes"], line["at_peak_bytes"]) for line in report.json["ledger"] if line["source"] == "manager"]
            equal(f"{way}, {name}", lines, expected)
            print(f"{way}, {name}: {lines}")


if __name__ == "__main__":
    main()
