#!/usr/bin/env python3
"""Hooks leave errno as it is, though what they ask of the driver changes it, and a watch looks before and behind each call.
   usage: cuda_errno_test.py BUILD SCRATCH cuda_errno|hip_errno
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, build_programs, check, equal, events_of, run, sources_for, standin
from msleaks_e2e import arguments, expect_same, line_of


def expect_kept(build, scratch, source, *options):
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, source, *options, "-rdynamic").items():
        plain = run([program])
        equal(f"{name}: failures alone", (plain.returncode, plain.stdout), (0, "0 failures\n"))
        where = f"{scratch}/{name.replace(' ', '-')}"
        done, _ = msleaks.run(where, [program], ["--watch", f"{source.name}:{line_of(source, '// watched')}"])
        expect_same(plain, done)
        check(events_of(msleaks, where, "changed") or events_of(msleaks, where, "content"), "nothing was watched")
        print(f"{name}: {plain.stdout.strip()}")


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    files = [PROGRAMS / "cuda_errno.c", *(STANDINS / "cuda" / name for name in ("cudart.cpp", "cuda_runtime_api.h")), STANDINS / "hip/amdhip.cpp"]
    folder = sources_for(topic, [("cuda", "hip")], scratch, *files)
    if topic == "hip_errno":
        library = standin(scratch, "libamdhip64.so.6", folder / "cudart.cpp", folder / "amdhip.cpp")
    else:
        library = standin(scratch, "libcudart.so.12", folder / "cudart.cpp")
    expect_kept(build, scratch, folder / "cuda_errno.c", f"-I{folder}", library)


if __name__ == "__main__":
    main()
