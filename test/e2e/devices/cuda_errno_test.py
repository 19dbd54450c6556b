#!/usr/bin/env python3
"""Tests that the hooks of CUDA and of HIP leave errno unchanged. The hooks call functions of the driver, which do change errno. A
watch also makes the hooks read a block before and after each call.
   usage: cuda_errno_test.py BUILD SCRATCH cuda_errno|hip_errno|cuda_driver_errno
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, check, equal, events_of, run, sources_for, standin
from msleaks_e2e import arguments, expect_same, line_of


def expect_kept(build, scratch, source, *options, watches=True):
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, source, *options, "-rdynamic").items():
        plain = run([program])
        equal(f"{name}: failures alone", (plain.returncode, plain.stdout), (0, "0 failures\n"))
        where = f"{scratch}/{name.replace(' ', '-')}"
        done, _ = msleaks.run(where, [program], ["--watch", f"{source.name}:{line_of(source, '// watched')}"] if watches else [])
        expect_same(plain, done)
        if watches:
            check(events_of(msleaks, where, "changed") or events_of(msleaks, where, "content"), "nothing was watched")
        print(f"{name}: {plain.stdout.strip()}")


def built(topic, scratch):
    """Returns the program's source, its build options, and whether the program has a block to watch."""
    cuda = STANDINS / "cuda"
    if topic == "cuda_driver_errno":
        driver = standin(scratch, "libcuda.so.1", cuda / "libcuda_contexts.cpp", cuda / "libcuda_copies.cpp", link=["-Wl,-Bsymbolic-functions"])
        return PROGRAMS / "cuda_driver_errno.c", [driver], False
    files = [PROGRAMS / "cuda_errno.c", PROGRAMS / "keeps_errno.h", cuda / "cudart.cpp", cuda / "cuda_runtime_api.h", STANDINS / "hip/amdhip.cpp"]
    folder = sources_for(topic, [("cuda", "hip")], scratch, *files)
    if topic == "hip_errno":
        library = standin(scratch, "libamdhip64.so.6", folder / "cudart.cpp", folder / "amdhip.cpp")
    else:
        library = standin(scratch, "libcudart.so.12", folder / "cudart.cpp")
    return folder / "cuda_errno.c", [f"-I{folder}", library], True


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    source, options, watches = built(topic, scratch)
    expect_kept(build, scratch, source, *options, watches=watches)


if __name__ == "__main__":
    main()
