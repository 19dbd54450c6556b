#!/usr/bin/env python3
"""Tests the hooks of Level Zero (hooks/level_zero). Programs run on the driver's stand-in (test/standins/level_zero). The report has a
program's blocks with heap and device, its leaks, open handles and refused calls. The program gets the same results as without
msleaks. If the driver's own header is installed (Debian: libze-dev), the test also compares the prototypes with this header.
   usage: level_zero_test.py BUILD SCRATCH
"""
import os
import re
from collections import Counter
from pathlib import Path

from device_run import (PROGRAMS, STANDINS, Msleaks, build_programs, compile, device_leaks, equal, events_of, expect_allocations, expect_counts, standin,
                        watched)
from msleaks_e2e import REPOSITORY, arguments, check, line_of, need, run

SOURCE, CALLS = PROGRAMS / "level_zero.c", PROGRAMS / "level_zero_calls.c"
HOOKS, STANDIN = REPOSITORY / "hooks/level_zero/level_zero.cpp", STANDINS / "level_zero"
STANDIN_SOURCES = STANDIN / "loader.cpp", STANDIN / "calls.cpp"
INCLUDE, ROWS = f"-I{REPOSITORY}/runtime/include", "msleaks/abi/functions/level_zero.def"
# {number of a kind in handles.def: how many handles the program opens}: contexts, queues, lists, pools, events, fences, logs, samplers
KINDS = {17: 1, 18: 1, 19: 1, 20: 3, 21: 1, 22: 1, 24: 1, 26: 1}
IMAGE, IMPORTED = 5 * 64, 4096
STEPS, WEIGHTS, ACTIVATIONS, FORGOTTEN, PAGES, NEARLY_ALL, TOO_MUCH = 5, 1 << 20, 1 << 18, 8192, 1 << 16, 58 << 20, 64 << 20
OUT_OF_DEVICE_MEMORY, UNSUPPORTED_SIZE, INVALID_NULL_POINTER = 0x70000003, 0x78000009, 0x78000007
INVALID_ARGUMENT, INVALID_SIZE = 0x78000004, 0x78000008


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
        return run([need("g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options, INCLUDE, f"-I{REPOSITORY}/hooks",
                    "-DMSL_VENDOR_HEADERS", source])

    present = Path(scratch) / "present.cpp"
    present.write_text("#include <level_zero/ze_api.h>\n")
    if builds(present).returncode != 0:
        print("no header of the driver here (libze-dev): prototypes are not compared")
        return
    # With -idirafter the compiler searches the stand-in's folder last, so it uses the driver's own header.
    for source in HOOKS, *STANDIN_SOURCES:
        done = builds(source, "-idirafter", STANDIN)
        check(done.returncode == 0, f"{source} does not build with the driver's header:\n{done.stderr}")
    text, right, folder = (REPOSITORY / "runtime/include" / ROWS).read_text(), "MSL_ZE(MemFree, (ze_context_handle_t, void *)", Path(scratch) / "wrong"
    check(right in text, "zeMemFree has moved")
    (folder / ROWS).parent.mkdir(parents=True, exist_ok=True)
    (folder / ROWS).write_text(text.replace(right, right.replace("void *", "const void *")))
    check(builds(HOOKS, f"-I{folder}").returncode != 0, "a wrong prototype compiles")
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


def expect_report(msleaks, scratch, program, name):
    folder, report = watched(msleaks, scratch, program)
    expect_events(msleaks, folder, name)
    leaks = [("device", 0, 1, PAGES, line_of(SOURCE, '&pages), "physical memory"')),
             ("device", 1, STEPS, STEPS * FORGOTTEN, line_of(SOURCE, "// forgotten"))]
    equal(f"{name}: leaks", sorted(device_leaks(report)), leaks)
    refused = [(finding["device"], finding["site"]["line"]) for finding in report.json["findings"] if finding["kind"] == "out-of-memory"]
    check((1, line_of(SOURCE, "// refused")) in refused, f"{name}: the refused block is no finding: {refused}")
    _, report = watched(msleaks, scratch, program, "mended")
    equal(f"{name}: leaks of the mended program", device_leaks(report), [])
    print(f"{name}: {leaks}")


def expect_calls(msleaks, scratch, program, name):
    """Checks handles, images, memory of another process, and uses that only a row describes."""
    folder, report = watched(msleaks, scratch, program)
    expect_allocations(msleaks, folder, [("device", 1, 8192), ("device", 1, IMAGE), ("device", 1, IMAGE)])
    imported = [(event["event"], event.get("size")) for event in events_of(msleaks, folder, "alloc,free") if event["heap"] == "imported"]
    equal(f"{name}: imported", imported, [("Alloc", IMPORTED), ("Free", 0)])
    sizes = {event["address"]: event["size"] for event in events_of(msleaks, folder, "alloc")}
    used = [sizes.get(event["address"]) for event in events_of(msleaks, folder, "access")]
    equal(f"{name}: used blocks", used, [8192, IMPORTED, IMAGE, IMAGE, IMAGE, IMAGE, None, IMAGE, None, IMAGE, IMAGE, None, IMAGE, None, 8192, 8192, None, None])
    expect_counts(msleaks, folder, copy=1, failed=0)
    equal(f"{name}: leaks", device_leaks(report), [])
    opened = Counter(event["kind"] for event in events_of(msleaks, folder, "opened"))
    equal(f"{name}: opened", {kind: opened[kind] for kind in KINDS}, KINDS)
    left = [(handle["kind"], handle["count"], handle["site"]["line"]) for handle in report.json["handles"] if handle["kind"] != "descriptor"]
    equal(f"{name}: open handles", left, [("ze_event_pool", 1, line_of(CALLS, "// is not destroyed"))])


def expect_newer(msleaks, scratch, program):
    """A later version of the driver has more functions. A note names those that seem to use memory."""
    folder = f"{scratch}/newer"
    os.makedirs(folder, exist_ok=True)
    standin(folder, "libze_loader.so.1", *STANDIN_SOURCES, link=["-DSTANDIN_NEWER"])
    for libraries, names in (scratch, []), (folder, ["zeMemAllocNewer"]):
        _, report = msleaks.run(f"{scratch}/{Path(libraries).name}.run", [program], env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
        found = [note for note in report.json["notes"] if "does not know" in note]
        equal("unknown functions", [re.findall(r"ze\w+Newer", note) for note in found], [names] if names else [])


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    expect_vendor_header(scratch)
    expect_page_builds(scratch)
    loader = standin(scratch, "libze_loader.so.1", *STANDIN_SOURCES)
    msleaks = Msleaks(build)
    # A process may use OpenCL, too. OpenCL's loader crashes if it gets a handle of Level Zero.
    beside_opencl = f"{scratch}/beside-opencl"
    compile(need("gcc"), "-g", INCLUDE, f"-I{STANDIN}", SOURCE, loader, "-Wl,--no-as-needed", "-lOpenCL", f"-Wl,-rpath,{scratch}", "-o", beside_opencl)
    expect_report(msleaks, scratch, beside_opencl, "beside OpenCL")
    for source, expect in (SOURCE, expect_report), (CALLS, expect_calls):
        folder = f"{scratch}/{source.stem}"
        os.makedirs(folder, exist_ok=True)
        for name, program in build_programs(build, folder, source, f"-I{STANDIN}", loader, f"-Wl,-rpath,{scratch}").items():
            expect(msleaks, folder, program, name)
    expect_newer(msleaks, scratch, f"{scratch}/{CALLS.stem}/plain")


if __name__ == "__main__":
    main()
