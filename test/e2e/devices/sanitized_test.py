#!/usr/bin/env python3
"""The hooks of drivers under a sanitizer, by their scenarios: hooks, runtime, stand-in and program are all sanitized. The sanitizer finds nothing, the
program does what it does alone, and its calls are recorded.   usage: sanitized_test.py BUILD SCRATCH SANITIZERS
"""
import os
import re

from device_run import PROGRAMS, STANDINS, check, equal, run
from msleaks_e2e import REPOSITORY, arguments, expect_same, need

HANDLES, WATCHES = PROGRAMS.parents[1] / "handles/programs", PROGRAMS.parents[1] / "watch/programs"
MACHINE = STANDINS / "common/machine.cpp"
CUDA, CANN, HIP, LEVEL_ZERO = (STANDINS / name for name in ("cuda", "cann", "hip", "level_zero"))
ASCEND = [("libascend_hal.so", [CANN / "driver.cpp", MACHINE]), ("libruntime.so", [CANN / "runtime.cpp", MACHINE]),
          ("libascendcl.so", [CANN / "ascendcl.cpp", MACHINE])]
# {scenario: (program, libraries in the order in which they need each other, options)}
SCENARIOS = {
    "cuda": (PROGRAMS / "cuda.c", [("libcudart.so.12", [CUDA / "cudart.cpp", MACHINE])], [f"-I{CUDA}"]),
    "cuda_memory": (PROGRAMS / "cuda_memory.c", [("libcuda.so.1", [CUDA / "libcuda_memory.cpp", MACHINE]),
                                                 ("libcudart.so.12", [CUDA / "cudart.cpp", MACHINE])], [f"-I{CUDA}"]),
    "nvml": (PROGRAMS / "nvml.c", [("libcudart.so.12", [CUDA / "cudart.cpp", MACHINE]), ("libnvidia-ml.so.1", [CUDA / "nvml.cpp", MACHINE])], [f"-I{CUDA}"]),
    "cann": (PROGRAMS / "cann.c", ASCEND, [f"-I{CANN}"]),
    "atb": (PROGRAMS / "atb.c", [*ASCEND, ("libatb.so", [CANN / "atb.cpp", MACHINE])], [f"-I{CANN}"]),
    "hal": (PROGRAMS / "hal.c", ASCEND, [f"-I{CANN}"]),
    "mstx": (PROGRAMS / "mstx.c", ASCEND, [f"-I{CANN}"]),
    "roctx": (PROGRAMS / "roctx.c", [("libroctx64.so.4", [HIP / "roctx.c"])], [f"-I{HIP}"]),
    "handles-cuda": (HANDLES / "cuda.c", [("libcuda.so.1", [CUDA / "libcuda.cpp"]), ("libcudart.so.12", [CUDA / "cudart_handles.cpp"]),
                                          ("libcufft.so.11", [CUDA / "cufft.cpp"])], ["-w"]),
    "watch-cuda": (WATCHES / "cuda.c", [("libcudart.so.12", [CUDA / "cudart.cpp", MACHINE])], [f"-I{CUDA}"]),
}
# PoCL's own code is not sanitized: threads that it makes are none of ThreadSanitizer's business.
OF_POCL = {"opencl": PROGRAMS / "opencl.c", "handles-opencl": HANDLES / "opencl.c", "watch-opencl": WATCHES / "opencl.c"}


def compiled(scratch, sanitizers, sources, output, *options):
    """`options` begin with what is to be found first."""
    objects = []
    flags = ["-g", "-O1", "-fPIC", f"-fsanitize={sanitizers}", "-fno-sanitize=function", "-fno-omit-frame-pointer", f"-I{REPOSITORY}/runtime/include"]
    for source in sources:
        language = ["clang-22"] if source.suffix == ".c" else ["clang++-22", "-std=c++20"]
        objects.append(f"{scratch}/{source.stem}.o")
        done = run([need(language[0]), *language[1:], *flags, *(option for option in options if option[:2] in ("-I", "-w")), "-c", source, "-o", objects[-1]])
        check(done.returncode == 0, done.stderr)
    done = run([need("clang++-22"), *flags, *objects, "-o", output, *options, f"-Wl,-rpath,{scratch}", "-pthread", "-ldl"])
    check(done.returncode == 0, done.stderr)
    return output


ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1", TSAN_OPTIONS="second_deadlock_stack=1")


def watched(build, folder, program):
    """What the program says, and how many events there are. What is preloaded here is not sanitized, and `env` alone has it."""
    tools = f"{build}/test/e2e/run/prefix/bin"
    run(["rm", "-rf", folder])
    done = run([f"{tools}/msleaks-run", "--no-report", "-o", folder, "--", "env", "-u", "LD_PRELOAD", program], env=ENVIRONMENT)
    dumped = run([f"{tools}/msleaks", "dump", folder, "--json"], env=ENVIRONMENT)
    equal(f"{program}: status of the dump {dumped.stderr}", dumped.returncode, 0)
    return done, len(dumped.stdout.splitlines())


def expect_clean(build, scratch, name, program):
    plain = run([program], env=ENVIRONMENT)
    if plain.returncode == 77:
        print(f"{name}: {plain.stdout.strip()}: left out")
        return
    equal(f"{name}: alone {plain.stderr[-2000:]}", plain.returncode, 0)
    done, events = watched(build, f"{scratch}/{name}.run", program)
    found = re.search(r"(ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error)(.*\n){40}", done.stderr)
    check(found is None, f"{name}: {found and found[0]}")
    expect_same(plain, done)
    events -= watched(build, f"{scratch}/{name}.none", "/bin/true")[1]
    check(events > 3, f"{name}: {events} events: {done.stderr}")
    print(f"{name}: {events} events")


def main():
    build, scratch, sanitizers = arguments("build", "scratch", "sanitizers")
    hooks = ["-Wl,--no-as-needed", f"{build}/lib/libdriver_hooks.so", f"{build}/lib/libmsleaks_rt.so", f"-Wl,-rpath,{build}/lib"]
    for name, (source, libraries, options) in SCENARIOS.items():
        folder = f"{scratch}/{name}"
        os.makedirs(folder, exist_ok=True)
        built = []
        for library, sources in libraries:
            built.append(compiled(folder, sanitizers, sources, f"{folder}/{library}", "-shared", f"-Wl,-soname,{library}", *built, *options))
        expect_clean(build, scratch, name, compiled(folder, sanitizers, [source], f"{folder}/program", *hooks, *options, *built))
    if sanitizers != "thread":
        for name, source in OF_POCL.items():
            folder = f"{scratch}/{name}"
            os.makedirs(folder, exist_ok=True)
            expect_clean(build, scratch, name, compiled(folder, sanitizers, [source], f"{folder}/program", *hooks, "-lOpenCL"))


if __name__ == "__main__":
    main()
