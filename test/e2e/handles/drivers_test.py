#!/usr/bin/env python3
"""Tests that msleaks counts handles of accelerator drivers, for each function that creates a handle. Stand-ins of the drivers
create and destroy the objects. The test runs once with hooks alone, and once with hooks and plugin. If the runtime library calls
the driver to create an object, msleaks must count only one handle.
   usage: drivers_test.py BUILD SCRATCH cuda|hip|cann
"""
import os
import re
from pathlib import Path

from msleaks_handles import PROGRAMS, compiled, expect_forgotten
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, need, run

STANDINS = REPOSITORY / "test/standins"


def library(scratch, name, source, *options):
    path = f"{scratch}/{name}"
    done = run([need("g++"), "-std=c++20", "-O1", "-g", "-fPIC", "-shared", source, f"-Wl,-soname,{name}", "-o", path, *options,
                f"-Wl,-rpath,{scratch}", "-pthread"])
    check(done.returncode == 0, done.stderr)
    return path


def hip_source(scratch):
    """Joins the stand-ins of CUDA's runtime library and driver in one source file with HIP's names. Returns the file's path. If
    both stand-ins define a function, HIP's name refers to the function of the runtime library."""
    folder = Path(scratch) / "source"
    folder.mkdir(exist_ok=True)
    both = (STANDINS / "cuda/cudart_handles.cpp").read_text() + (STANDINS / "cuda/libcuda.cpp").read_text()
    both = both.replace("../common/", f"{STANDINS}/common/")
    both = re.sub(r"\bcu(Ctx\w+|Module\w+)", lambda name: "hip" + re.sub("_v2$", "", name[1]), both).replace("cuda", "hip")
    source = folder / "amdhip64.cpp"
    source.write_text(re.sub(r"\bcu(?=[A-Z])", "inner", both))
    return source


def cuda(scratch):
    driver = library(scratch, "libcuda.so.1", STANDINS / "cuda/libcuda.cpp")
    runtime = library(scratch, "libcudart.so.12", STANDINS / "cuda/cudart_handles.cpp", driver)
    return [runtime, driver, library(scratch, "libcufft.so.11", STANDINS / "cuda/cufft.cpp")]


def hip(scratch):
    return [library(scratch, "libamdhip64.so.6", hip_source(scratch)),
            library(scratch, "libhipfft.so.0", STANDINS / "cuda/cufft.cpp", "-DSTANDIN_HIP")]


def cann(scratch):
    runtime = library(scratch, "libruntime.so", STANDINS / "cann/handles.cpp", "-DSTANDIN_RUNTIME")
    return [library(scratch, "libascendcl.so", STANDINS / "cann/handles.cpp", runtime), runtime]


def main():
    build, scratch, vendor = arguments("build", "scratch", "vendor")
    os.makedirs(scratch, exist_ok=True)
    libraries = {"cuda": cuda, "hip": hip, "cann": cann}[vendor](scratch)
    source = PROGRAMS / f"{vendor}.c"
    for name, program in compiled(build, scratch, source, *libraries).items():
        expect_forgotten(Msleaks(build), f"{scratch}/{name}", source, program)


if __name__ == "__main__":
    main()
