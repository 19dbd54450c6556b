#!/usr/bin/env python3
"""Tests that the tensors of PyTorch's caching allocator for CUDA are blocks with places of their own, with stand-ins for CUDA and
libc10. Both forms of PyTorch's report are tested. Reports about the host and about PrivateUse1 must not be recorded. A tensor that keeps
a segment of the allocator alive is found, and its mended twin has no finding.
   usage: pytorch_test.py BUILD SCRATCH
"""
import os

from device_run import PROGRAMS, STANDINS, Msleaks, check, compile, equal, need, standin, watched
from msleaks_e2e import arguments, line_of

SOURCE, FRAGMENTS = PROGRAMS / "pytorch_tensors.cpp", PROGRAMS / "pytorch_fragments.cpp"
PYTORCH = STANDINS / "pytorch"
MIB, SEGMENT, ROUNDED = 1 << 20, 20 << 20, 512
FILES = 8  # of pytorch_fragments.cpp


def build_program(program, scratch, *defines):
    """Builds the program, and PyTorch's libraries where pip installs them."""
    torch = f"{scratch}/site-packages/torch/lib"
    os.makedirs(torch, exist_ok=True)
    driver = standin(scratch, "libcuda.so.1", STANDINS / "cuda/libcuda_memory.cpp")
    runtime = standin(scratch, "libcudart.so.12", STANDINS / "cuda/cudart.cpp", link=[driver])
    options = ["-std=c++20", "-g", "-O1", f"-I{PYTORCH}", f"-I{STANDINS}/cuda", *defines, f"-Wl,-rpath,{torch}:{scratch}"]
    libraries = [driver, runtime]
    for name, source in ("libc10.so", "memory_report.cpp"), ("libc10_cuda.so", "caching_allocator.cpp"):
        compile(need("g++"), "-shared", "-fPIC", *options, PYTORCH / source, f"-Wl,-soname,{name}", "-o", f"{torch}/{name}", *libraries)
        libraries.insert(0, f"{torch}/{name}")
    compile(need("g++"), *options, program, "-o", f"{scratch}/train", *libraries)
    return f"{scratch}/train"


def lines_of(places):
    return {(place["bytes"], place["count"], place["site"]["line"]) for place in places}


def fragmentation_of(report):
    return [finding for finding in report.json["findings"] if finding["kind"] == "fragmentation"]


def finds_fragments(msleaks, scratch):
    os.environ["STANDIN_DEVICE_BYTES"] = str(1 << 30)
    folder, report = watched(msleaks, f"{scratch}/pinned", build_program(FRAGMENTS, f"{scratch}/pinned"))
    equal("peak of the device", report.heap_peak_bytes("device"), 2 * FILES * SEGMENT)
    found = fragmentation_of(report)
    equal("findings", [(each["bytes"], each["count"], each["saves_bytes"]) for each in found], [(FILES * 18 * MIB, FILES, FILES * 18 * MIB)])
    equal("line of the segments", found[0]["site"]["line"], line_of(FRAGMENTS, "// staging buffer"))
    equal("line of what pins them", found[0]["evidence"]["pinned_by"], f"{FRAGMENTS}:{line_of(FRAGMENTS, '// kept tensor')}")
    screen = msleaks.output("report", folder)
    check("1.  fragmentation: " in screen, screen)
    _, mended = watched(msleaks, f"{scratch}/mended", build_program(FRAGMENTS, f"{scratch}/mended", "-DMENDED"))
    equal("peak of the mended program", mended.heap_peak_bytes("device"), (FILES + 1) * SEGMENT)
    equal("findings of the mended program", fragmentation_of(mended), [])
    print(f"fragmentation: {found[0]['saves_bytes']} B of {2 * FILES * SEGMENT}")


def main():
    build, scratch = arguments("build", "scratch")
    msleaks = Msleaks(build)
    for form in "size_t", "int64_t":
        folder = f"{scratch}/{form}"
        _, report = watched(msleaks, folder, build_program(SOURCE, folder, f"-DPYTORCH_SUM={form}"))
        equal(f"{form}: peak of the device", report.heap_peak_bytes("device"), SEGMENT)
        equal(f"{form}: peak of the tensors", report.heap_peak_bytes("pool"), 16 * MIB + 3 * ROUNDED)
        kept = (3 * ROUNDED, 3, line_of(SOURCE, "// kept loss"))
        equal(f"{form}: tensors alive at the end", lines_of(report.json["leaks"]["pool"]["by_site"]), {kept})
        print(f"{form}: {kept}")
    finds_fragments(msleaks, scratch)


if __name__ == "__main__":
    main()
