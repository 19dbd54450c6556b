#!/usr/bin/env python3
"""Tests the hooks of Level Zero (hooks/level_zero/level_zero.cpp). A program runs on the driver's stand-in (test/standins/level_zero).
The report has the program's blocks with heap and device, its leaks and its refused calls. The program gets the same results as without
msleaks. The file is also the example of a user's own hooks: as a second library, it records nothing twice. If the driver's own
header is installed (Debian: libze-dev), the test also compares the prototypes with this header.
   usage: level_zero_test.py BUILD SCRATCH
"""
import os
import re
from pathlib import Path

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, compile, device_leaks, equal, events_of, expect_allocations, expect_counts, standin,
                        watched)
from msleaks_e2e import REPOSITORY, arguments, check, line_of, need, run

SOURCE, HOOKS, STANDIN = PROGRAMS / "level_zero.c", REPOSITORY / "hooks/level_zero/level_zero.cpp", STANDINS / "level_zero"
INCLUDE = f"-I{REPOSITORY}/runtime/include"
STEPS, WEIGHTS, ACTIVATIONS, FORGOTTEN, PAGES, NEARLY_ALL, TOO_MUCH = 5, 1 << 20, 1 << 18, 8192, 1 << 16, 58 << 20, 64 << 20
OUT_OF_DEVICE_MEMORY, UNSUPPORTED_SIZE, INVALID_NULL_POINTER = 0x70000003, 0x78000009, 0x78000007
INVALID_ARGUMENT, INVALID_SIZE = 0x78000004, 0x78000008


def build_hooks(scratch):
    """Builds the hook library with the command of docs/hooks.md."""
    compile(need("g++"), "-std=c++20", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", INCLUDE, HOOKS, "-o", f"{scratch}/level_zero.so")
    return f"{scratch}/level_zero.so"


def expect_page_builds(scratch):
    """Checks that docs/hooks.md has three examples in C++, and that they compile in one file with the declarations below."""
    blocks = re.findall(r"```cpp\n(.*?)```", (REPOSITORY / "docs/hooks.md").read_text(), re.DOTALL)
    equal("examples on the page", len(blocks), 3)
    page = Path(scratch) / "page.cpp"
    page.write_text("""#include <cstddef>
#include <cstdint>
using cl_context = void *;
using cl_mem = void *;
using cl_mem_flags = uint64_t;
using cl_int = int;
struct Wish {
  uint32_t device;
  size_t size;
};
""" + "\n".join(blocks))
    compile(need("g++"), "-std=c++20", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", INCLUDE, page, "-o", f"{scratch}/page.so")


def expect_vendor_header(scratch):
    """Checks that hooks and stand-in compile with the driver's own header, and that a wrong prototype does not compile."""
    def builds(source, *options):
        return run([need("g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", INCLUDE, "-DMSL_VENDOR_HEADERS", *options, source])

    present = Path(scratch) / "present.cpp"
    present.write_text("#include <level_zero/ze_api.h>\n")
    if builds(present).returncode != 0:
        print("no header of the driver here (libze-dev): prototypes are not compared")
        return
    # With -idirafter the compiler searches the stand-in's folder last, so it uses the driver's own header.
    for source in HOOKS, STANDIN / "loader.cpp":
        done = builds(source, "-idirafter", STANDIN)
        check(done.returncode == 0, f"{source} does not build with the driver's header:\n{done.stderr}")
    right, wrong = "zeMemFree, (ze_context_handle_t, void *)", Path(scratch) / "wrong.cpp"
    check(right in HOOKS.read_text(), "zeMemFree has moved")
    wrong.write_text(HOOKS.read_text().replace(right, "zeMemFree, (ze_context_handle_t, const void *)"))
    check(builds(wrong).returncode != 0, "a wrong prototype compiles")
    print("prototypes are those of the driver's header")


def expect_events(msleaks, folder, name):
    """Checks that each allocation is recorded once, with the device that the call names."""
    expect_allocations(msleaks, folder, [("device", 1, WEIGHTS), ("pinned", 0, 4096), ("managed", 0, 16384), ("device", 1, 32768), ("device", 0, PAGES),
                                         ("device", 1, NEARLY_ALL), *[("device", 1, ACTIVATIONS), ("device", 1, FORGOTTEN)] * STEPS])
    refused = [(event["heap"], event["device"], event["size"], event["status"]) for event in events_of(msleaks, folder, "alloc-failed")]
    equal(f"{name}: refused", refused, [("device", 1, TOO_MUCH, OUT_OF_DEVICE_MEMORY), ("pinned", 0, 1 << 40, UNSUPPORTED_SIZE),
                                        ("device", 1, 4096, INVALID_NULL_POINTER)])
    expect_counts(msleaks, folder, launch=STEPS + 2, copy=2, set=STEPS + 2)
    failed = [event["status"] for event in events_of(msleaks, folder, "failed")]
    equal(f"{name}: refused launches, copies and fills", failed, [INVALID_NULL_POINTER, INVALID_ARGUMENT, INVALID_SIZE])
    grids = [tuple(event[key] for key in ("grid_x", "grid_y", "grid_z", "block_x", "device")) for event in events_of(msleaks, folder, "launch")]
    equal(f"{name}: grids, and no device", grids, [(5, 6, 7, 0, 0), *[(2, 1, 1, 0, 0)] * STEPS, (0, 0, 0, 0, 0)])
    names = {event["name"] for event in events_of(msleaks, folder, "kernel")}
    equal(f"{name}: kernels", names, {"add_groups"})
    sizes = [event["size"] for event in events_of(msleaks, folder, "set")]
    equal(f"{name}: fills", sizes, [WEIGHTS, *[ACTIVATIONS] * STEPS, 3])
    mapped = [(event["size"], bool(event["block"])) for event in events_of(msleaks, folder, "mapped")]
    equal(f"{name}: mapped and unmapped", mapped, [(PAGES, True), (PAGES, False)])
    executed = [int(str(event["address"]), 0) for event in events_of(msleaks, folder, "access")]
    equal(f"{name}: accesses of unknown memory, one for each run of the list", executed, [0, 0])


def expect_report(msleaks, scratch, program, name, hooks=None):
    folder, report = watched(msleaks, scratch, program, hooks=hooks)
    expect_events(msleaks, folder, name)
    leaks = [("device", 0, 1, PAGES, line_of(SOURCE, '&pages), "physical memory"')),
             ("device", 1, STEPS, STEPS * FORGOTTEN, line_of(SOURCE, "// forgotten"))]
    equal(f"{name}: leaks", sorted(device_leaks(report)), leaks)
    refused = [(finding["device"], finding["site"]["line"]) for finding in report.json["findings"] if finding["kind"] == "out-of-memory"]
    check((1, line_of(SOURCE, "// refused")) in refused, f"{name}: the refused block is no finding: {refused}")
    _, report = watched(msleaks, scratch, program, "mended", hooks=hooks)
    equal(f"{name}: leaks of the mended program", device_leaks(report), [])
    print(f"{name}: {leaks}")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    expect_vendor_header(scratch)
    expect_page_builds(scratch)
    hooks = build_hooks(scratch)
    loader = standin(scratch, "libze_loader.so.1", STANDIN / "loader.cpp")
    msleaks = Msleaks(build)
    # A process may use OpenCL, too. OpenCL's loader crashes if it gets a handle of Level Zero.
    beside_opencl = f"{scratch}/beside-opencl"
    compile(need("gcc"), "-g", INCLUDE, f"-I{STANDIN}", SOURCE, loader, "-Wl,--no-as-needed", "-lOpenCL", f"-Wl,-rpath,{scratch}", "-o", beside_opencl)
    expect_report(msleaks, scratch, beside_opencl, "beside OpenCL")
    programs = build_programs(build, scratch, SOURCE, f"-I{STANDIN}", loader)
    for name, program in programs.items():
        expect_report(msleaks, scratch, program, name)
    expect_report(msleaks, scratch, programs["hooks"], "hooks, also a user's own", hooks=hooks)


if __name__ == "__main__":
    main()
