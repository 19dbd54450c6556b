#!/usr/bin/env python3
"""Runs the programs of other tests under a sanitizer, to check the hooks for drivers, NVTX and libc's handles. Hooks, runtime,
stand-in and program are all built with the sanitizer. The sanitizer must find no error, the program must behave as without msleaks,
and msleaks must record the program's calls.
   usage: sanitized_test.py BUILD SCRATCH SANITIZERS
"""
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "handles"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "graphs"))
import cann_launches_test  # noqa: E402
import cuda_arrays_test  # noqa: E402
import cuda_copies_test  # noqa: E402
import cuda_forms_test  # noqa: E402
import cuda_memory_test  # noqa: E402
import modules_test  # noqa: E402
from device_modules import make_module  # noqa: E402
from device_run import PROGRAMS, ROWS, STANDINS, check, equal, run, sources_for  # noqa: E402
from drivers_test import hip_source  # noqa: E402
from msleaks_e2e import REPOSITORY, SKIPPED, arguments, expect_same, need  # noqa: E402

HERE, HANDLES, WATCHES = (Path(__file__).resolve().parent / "sanitized", PROGRAMS.parents[1] / "handles/programs", PROGRAMS.parents[1] / "watch/programs")
MACHINE = STANDINS / "common/machine.cpp"
CUDA, CANN, HIP = (STANDINS / name for name in ("cuda", "cann", "hip"))


class Scenario(NamedTuple):
    """Describes a program and the libraries that it needs. `libraries` contains (name, sources, option...). A library comes after the
    libraries that it needs. `runs` contains the arguments of each run, in which {} stands for the scenario's folder."""
    programs: list
    libraries: list = []
    options: list = []
    runs: list = [[]]
    environment: dict = {}
    counts: bool = False  # whether the scenario counts the edges of kernels


def library(name, *sources, options=()):
    return (name, [*sources, MACHINE], *options)


RUNTIME = library("libcudart.so.12", CUDA / "cudart.cpp")
ASCEND = [library("libascend_hal.so", CANN / "driver.cpp"), library("libruntime.so", CANN / "runtime.cpp")]
ACL, ATB = library("libascendcl.so", CANN / "ascendcl.cpp"), library("libatb.so", CANN / "atb.cpp")
LAYERS = [library("libacl_rt_impl.so", CANN / "ascendcl.cpp", options=["-DSTANDIN_IMPL"]), ("libascendcl.so", [CANN / "forwards.cpp"])]
DRIVER_OF_MEMORY = library("libcuda.so.1", CUDA / "libcuda_memory.cpp")
MORE_OPENCL = ("libmore_opencl.so", [PROGRAMS / "more_opencl.c"])
SCENARIOS = {
    "cuda": Scenario([PROGRAMS / "cuda.c"], [RUNTIME], [f"-I{CUDA}"]),
    "cuda_memory": Scenario([PROGRAMS / "cuda_memory.c"], [DRIVER_OF_MEMORY, RUNTIME], [f"-I{CUDA}"]),
    "cuda_mapped": Scenario([PROGRAMS / "cuda_mapped.c"], [DRIVER_OF_MEMORY, RUNTIME], [f"-I{CUDA}"]),
    "cuda_registered": Scenario([PROGRAMS / "cuda_registered.c"], [DRIVER_OF_MEMORY, RUNTIME], [f"-I{CUDA}"]),
    "cuda_copies": Scenario([PROGRAMS / "cuda_copies.c"], [library("libcuda.so.1", CUDA / "libcuda_copies.cpp", CUDA / "libcuda_per_thread.cpp"),
                                                           library("libcudart.so.12", CUDA / "cudart.cpp", CUDA / "cudart_per_thread.cpp")], [f"-I{CUDA}"]),
    "cuda_arrays": Scenario([PROGRAMS / "cuda_arrays.c"], [library("libcuda.so.1", CUDA / "libcuda_copies.cpp", CUDA / "libcuda_per_thread.cpp"),
                                                           library("libcudart.so.12", CUDA / "cudart.cpp", CUDA / "cudart_arrays.cpp", CUDA / "cudart_per_thread.cpp")], [f"-I{CUDA}", "-w"]),
    "cuda_forms": Scenario([PROGRAMS / "cuda_forms.c"], [library("libcudart.so.12", CUDA / "cudart.cpp", CUDA / "cudart_per_thread.cpp")], [f"-I{CUDA}", "-rdynamic"]),
    "cuda_capture": Scenario([PROGRAMS / "cuda_capture.c"], [library("libcudart.so.12", CUDA / "cudart_capture.cpp"), library("libcuda.so.1", CUDA / "libcuda_capture.cpp")],
                             [f"-I{CUDA}", "-rdynamic"]),
    "cuda_driver": Scenario([PROGRAMS / "cuda_driver.c"], [library("libcuda.so.1", CUDA / "libcuda_contexts.cpp", options=["-Wl,-Bsymbolic-functions"])]),
    "nvml": Scenario([PROGRAMS / "nvml.c"], [RUNTIME, library("libnvidia-ml.so.1", CUDA / "nvml.cpp")], [f"-I{CUDA}"]),
    "cann": Scenario([PROGRAMS / "cann.c"], [*ASCEND, ACL], [f"-I{CANN}"]),
    "cann_launches": Scenario([PROGRAMS / "cann_launches.c"], [*ASCEND, ACL], [f"-I{CANN}", "-rdynamic"], environment={"BINARIES": "{}"}),
    "cann_layers": Scenario([PROGRAMS / "cann_launches.c"], [*ASCEND, *LAYERS], [f"-I{CANN}", "-rdynamic"], [["layers"]], {"BINARIES": "{}"}),
    "cann_calls": Scenario([PROGRAMS / "cann_calls.c"], [*ASCEND, ACL], [f"-I{CANN}"]),
    "cann_calls_layers": Scenario([PROGRAMS / "cann_calls.c"], [*ASCEND, *LAYERS], [f"-I{CANN}"], [["layers"]]),
    "atb": Scenario([PROGRAMS / "atb.c"], [*ASCEND, ACL, ATB], [f"-I{CANN}"], [[], ["save"], ["strange"]]),
    "scenarios": Scenario([PROGRAMS / "scenarios.c"], [*ASCEND, ACL, ATB], [f"-I{CANN}"],
                          [[topic] for topic in ("leak", "compare", "watch", "decompose", "early", "late", "oom")], {"STANDIN_HIDDEN": "1"}),
    "hal": Scenario([PROGRAMS / "hal.c"], [*ASCEND, ACL], [f"-I{CANN}"]),
    "mstx": Scenario([PROGRAMS / "mstx.c"], [*ASCEND, ACL], [f"-I{CANN}"]),
    "roctx": Scenario([PROGRAMS / "roctx.c"], [("libroctx64.so.4", [HIP / "roctx.c"])], [f"-I{HIP}"]),
    # This program looks up functions in libraries that it opens at run time. Only preloaded hooks see such calls, so find_hook.c
    # replaces dlsym. The topics deepbind and full are left out, since no sanitizer works with RTLD_DEEPBIND or with a limit of
    # mapped memory. The topic forks is left out, since under ThreadSanitizer a fork fails while threads are inside a launch.
    "faults": Scenario([PROGRAMS / "faults.c", HERE / "find_hook.c"], [RUNTIME, ("libcuda.so.1", [CUDA / "libcuda.cpp"])], ["-Ddlsym=findHook", "-Wl,--as-needed"],
                       [*([topic, "{}/libcudart.so.12"] for topic in ("missing", "reopened", "freed")), ["twice", "{}/libcuda.so.1"]]),
    "handles-cuda": Scenario([HANDLES / "cuda.c"], [("libcuda.so.1", [CUDA / "libcuda.cpp"]), ("libcudart.so.12", [CUDA / "cudart_handles.cpp"]),
                                                    ("libcufft.so.11", [CUDA / "cufft.cpp"])], ["-w"]),
    "handles-cann": Scenario([HANDLES / "cann.c"], [("libruntime.so", [CANN / "handles.cpp"], "-DSTANDIN_RUNTIME"), ("libascendcl.so", [CANN / "handles.cpp"])], ["-w"]),
    "watch-cuda": Scenario([WATCHES / "cuda.c"], [RUNTIME], [f"-I{CUDA}"], environment={"STANDIN_HIDDEN": "1"}),
    # PoCL itself is not sanitized. So ThreadSanitizer gets the option ignore_noninstrumented_modules, and ignores PoCL's calls of libc.
    "opencl_calls": Scenario([PROGRAMS / "opencl_calls.c"], options=["-lOpenCL", "-w"], runs=[[], ["parts"], ["native"]]),
    "opencl": Scenario([PROGRAMS / "opencl.c"], options=["-lOpenCL"]),
    "opencl_rows": Scenario([PROGRAMS / "opencl_rows.c"], [MORE_OPENCL], ["-lOpenCL", "-w"]),
    "opencl_shared": Scenario([PROGRAMS / "opencl_shared.c"], [("libshared_opencl.so", [PROGRAMS / "shared_opencl.c"])], ["-lOpenCL"]),
    "handles-opencl": Scenario([HANDLES / "opencl.c"], [MORE_OPENCL], ["-lOpenCL", "-w"]),
    "watch-opencl": Scenario([WATCHES / "opencl.c"], options=["-lOpenCL"]),
}
# Scenarios of HIP, made from CUDA's programs: {scenario: (program, sources of the library, replacements of names, options)}
OF_HIP = {
    "hip": ("cuda.c", ["cudart.cpp"], cuda_memory_test.HIP, []),
    "hip_memory": ("cuda_memory.c", ["cudart.cpp", "libcuda_memory.cpp"], cuda_memory_test.HIP, []),
    "hip_mapped": ("cuda_mapped.c", ["cudart.cpp", "libcuda_memory.cpp"], cuda_memory_test.HIP, []),
    "hip_registered": ("cuda_registered.c", ["cudart.cpp"], cuda_memory_test.HIP, ["-DHIP"]),
    "hip_arrays": ("cuda_arrays.c", ["cudart.cpp", "cudart_arrays.cpp", "cudart_per_thread.cpp", "libcuda_copies.cpp"], cuda_arrays_test.HIP, ["-DHIP", "-w"]),
    "hip_forms": ("cuda_forms.c", ["cudart.cpp", "cudart_per_thread.cpp", "../hip/amdhip.cpp"], cuda_forms_test.HIP, ["-DHIP", "-rdynamic"]),
    "watch-hip": ("../../watch/programs/cuda.c", ["cudart.cpp", "../hip/amdhip.cpp"], [("cuda", "hip")], ["-rdynamic"]),
    "hip_copies": ("cuda_copies.c", ["cudart.cpp", "cudart_per_thread.cpp", "libcuda_copies.cpp"], cuda_copies_test.HIP, ["-DHIP"]),
}


def scenarios_of_hip(scratch):
    found = {}
    for name, (program, parts, names, options) in OF_HIP.items():
        os.makedirs(f"{scratch}/{name}", exist_ok=True)
        folder = sources_for("hip", names, f"{scratch}/{name}", PROGRAMS / program, *(CUDA / part for part in [*parts, "cuda_runtime_api.h"]))
        found[name] = Scenario([folder / Path(program).name], [library("libamdhip64.so.6", *(folder / Path(part).name for part in parts), options=options)], [f"-I{folder}", *options])
    os.makedirs(f"{scratch}/handles-hip", exist_ok=True)
    found["handles-hip"] = Scenario([HANDLES / "hip.c"], [("libamdhip64.so.6", [hip_source(f"{scratch}/handles-hip")]),
                                                          ("libhipfft.so.0", [CUDA / "cufft.cpp"], "-DSTANDIN_HIP")], ["-w"])
    return found


def scenarios_of_libc(sanitizers):
    """Returns the scenarios with file descriptors, files, threads and exec. Leaves out the parts of these programs that
    ThreadSanitizer cannot run even without hooks."""
    topics = ["forks", "vforks", "execs", "threads", "many"]
    found = {}
    if sanitizers == "thread":
        print("handles-host, handles-faults handlers, cancels: skipped: a check of ThreadSanitizer's own fails on them without hooks, too", flush=True)
    else:
        topics += ["handlers", "cancels"]
        found["handles-host"] = Scenario([HANDLES / "host.c"], options=["-w"], runs=[[], ["mended"]])
    found["handles-faults"] = Scenario([HANDLES / "faults.c"], options=["-w"], runs=[[topic] for topic in topics])
    return found


def scenario_of_nvtx(build):
    """Returns the scenario of NVTX. An environment variable names the library that NVTX's own header loads, here the hooks."""
    done = run([CUDA / "headers.sh"])
    if done.returncode != 0:
        print(f"nvtx: skipped: no headers: {done.stdout.strip()} {done.stderr.strip()}", flush=True)
        return {}
    return {"nvtx": Scenario([PROGRAMS / "nvtx.c"], options=[f"-I{done.stdout.strip()}", "-ldl"],
                             environment={"NVTX_INJECTION64_PATH": f"{build}/lib/libdriver_hooks.so"})}


def scenarios_of_modules(tools, scratch):
    """Returns the scenarios of kernels that count their control flow, in a counted copy of the kernel or in the kernel itself. The
    release build's plugin compiles the kernels, so their code is not sanitized."""
    plugin = next((path for path in (Path(tools).parent / "lib", REPOSITORY / "build/release/lib") if (path / "msleaks/llvm-22/libMemPass.so").exists()), None)
    if plugin is None:
        print("modules: skipped: no plugin, since there is no release build", flush=True)
        return {}
    found = {}
    for topic, how, options in ("cuda", ([], ["packed"], ["library"], ["config"], ["ends=cuDevicePrimaryCtxReset_v2"]), []), ("hip", ([], ["reload"], ["ext"], ["static"], ["static", "config"], ["ends=hipDeviceReset"]), ["-DHIP"]):
        folder = Path(scratch) / f"modules-{topic}"
        os.makedirs(folder, exist_ok=True)
        modules = []
        for passes in "cfg", "cfg;in-kernel":
            name = passes.replace(";", "-")
            modules_test.device_code(topic, plugin / "msleaks/llvm-22/libMemPass.so", passes, folder / f"{name}.ll")
            modules.append(make_module(folder / f"{name}.ll", str(folder / f"{name}.so")))
        sources = sources_for(topic, modules_test.NAMES, folder, CUDA / "libcuda_modules.cpp", modules_test.DRIVER, modules_test.PROGRAMS / "module_host.c")
        driver = library({"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6"}[topic], sources / "libcuda_modules.cpp", options=["-DSTANDIN_HIP"] if options else [])
        found[folder.name] = Scenario([sources / "module_host.c"], [driver], options, [[modules[0], "5", *words] for words in how] + [[modules[1], "5"]], counts=True)
    return found


def of_compiler(options):
    return tuple(option for option in options if option[:2] in ("-I", "-D", "-w"))


class Objects:
    """Compiles each pair of a source and options once."""
    def __init__(self, scratch, sanitizers):
        self.folder, self.made = f"{scratch}/objects", {}
        os.makedirs(self.folder, exist_ok=True)
        # Without -fsemantic-interposition, clang binds calls within a library directly, so these calls would bypass the hooks.
        self.flags = ["-g", "-O1", "-fPIC", "-fsemantic-interposition", f"-fsanitize={sanitizers}", "-fno-sanitize=function", "-fno-omit-frame-pointer",
                      f"-I{REPOSITORY}/runtime/include"]

    def path(self, source, options):
        return self.made.setdefault((source, of_compiler(options)), f"{self.folder}/{len(self.made)}-{source.stem}.o")

    def compile(self, made):
        (source, options), output = made
        language = ["clang-22"] if source.suffix == ".c" else ["clang++-22", "-std=c++20", f"-I{source.parent}", *ROWS]
        done = run([need(language[0]), *language[1:], *self.flags, *options, "-c", source, "-o", output])
        check(done.returncode == 0, done.stderr)

    def compile_all(self):
        with ThreadPoolExecutor(2) as workers:
            list(workers.map(self.compile, self.made.items()))

    def link(self, sources, output, *options):
        """Links a program or a library. `options` must list libraries in the order in which the dynamic linker searches them."""
        done = run([need("clang++-22"), *self.flags, *(self.path(source, options) for source in sources), "-o", output, *options,
                    f"-Wl,-rpath,{Path(output).parent}", "-pthread", "-ldl"])
        check(done.returncode == 0, done.stderr)
        return output


ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1",
                   TSAN_OPTIONS="second_deadlock_stack=1 ignore_noninstrumented_modules=1")


def watched(tools, folder, command, environment):
    """Runs the command under msleaks-run. Returns its output, and the number of events. `env -u LD_PRELOAD` keeps the unsanitized
    libraries of msleaks-run out of the program."""
    run(["rm", "-rf", folder])
    done = run([f"{tools}/msleaks-run", "--no-report", "-o", folder, "--", "env", "-u", "LD_PRELOAD", *command], env=environment)
    dumped = run([f"{tools}/msleaks", "dump", folder, "--json"], env=environment)
    equal(f"{command}: status of the dump {dumped.stderr}", dumped.returncode, 0)
    return done, len(dumped.stdout.splitlines())


def in_front(options, built):
    """Returns the options with the scenario's own libraries before the machine's libraries, so that the linker finds them first."""
    libraries = [option for option in options if option.startswith("-l")]
    return [*(option for option in options if option not in libraries), *built, *libraries]


def expect_clean(tools, folder, name, command, environment, none, counts):
    """Checks one run of a scenario. `none` is the number of events in the trace of a command that does nothing."""
    plain = run(command, env=environment)
    if plain.returncode == SKIPPED:
        print(f"{name}: skipped: {plain.stdout.strip()}", flush=True)
        return
    equal(f"{name}: alone {plain.stderr[-2000:]}", plain.returncode, 0)
    done, events = watched(tools, f"{folder}/run", command, environment)
    found = re.search(r"(ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error)(.*\n){1,40}", done.stderr)
    check(found is None, f"{name}: {found and found[0]}")
    expect_same(plain, done)
    check(events - none > 2, f"{name}: {events - none} events: {done.stderr}")
    check(not counts or run([f"{tools}/msleaks", "cfg", f"{folder}/run"], env=environment).returncode == 0, f"{name}: no kernel was counted")
    print(f"{name} {' '.join(command[1:2])}: {events - none} events", flush=True)


def main():
    build, scratch, sanitizers, tools = arguments("build", "scratch", "sanitizers", "tools")
    for tool in "msleaks-run", "msleaks":
        check(os.access(f"{tools}/{tool}", os.X_OK), f"{tools}: no {tool}, build it first (MSLEAKS_TOOLS names the folder)")
    scenarios = {**SCENARIOS, **scenarios_of_libc(sanitizers), **scenarios_of_hip(scratch), **scenario_of_nvtx(build), **scenarios_of_modules(tools, scratch)}
    hooks = ["-Wl,--no-as-needed", f"{build}/lib/libdriver_hooks.so", f"{build}/lib/libmsleaks_rt.so", f"-Wl,-rpath,{build}/lib"]
    objects = Objects(scratch, sanitizers)
    for scenario in scenarios.values():
        for _, sources, *options in scenario.libraries:
            for source in sources:
                objects.path(source, options)
        for source in scenario.programs:
            objects.path(source, scenario.options)
    objects.compile_all()
    none = watched(tools, f"{scratch}/none", ["/bin/true"], ENVIRONMENT)[1]
    for name, scenario in scenarios.items():
        folder = f"{scratch}/{name}"
        os.makedirs(folder, exist_ok=True)
        built = []
        for file, sources, *options in scenario.libraries:
            built.append(objects.link(sources, f"{folder}/{file}", "-shared", f"-Wl,-soname,{file}", *built, *options))
        program = objects.link(scenario.programs, f"{folder}/program", *hooks, *in_front(scenario.options, built))
        if "BINARIES" in scenario.environment:
            cann_launches_test.binaries(folder)
        environment = {**ENVIRONMENT, **{variable: value.format(folder) for variable, value in scenario.environment.items()}}
        for options in scenario.runs:
            expect_clean(tools, folder, name, [program, *(option.format(folder) for option in options)], environment, none, scenario.counts)


if __name__ == "__main__":
    main()
