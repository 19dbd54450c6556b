#!/usr/bin/env python3
"""Compiles a CUDA or HIP program for the device and the host by one command of msleaks-clang++. The device binary in the object file
must contain a counted copy of each kernel, and the host's function must be counted. The machine needs no SDK, because stand-ins
replace the tools that combine the device binaries.

    command_test.py BUILD SCRATCH LLVM cuda|hip
"""
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from graphs_run import PROGRAMS, Msleaks, arguments, check, counted, equal, need, run  # noqa: E402
from without_sdk import cuda_tool, options_for  # noqa: E402

SOURCE = PROGRAMS / "one_file.cu"
SECTION = {"cuda": ".nv_fatbin", "hip": ".hip_fatbin"}
OURS = b"__msl_counted_collatz", b"__msl_counted_choose", b"__msl_kernel_collatz", b"__msl_kernel_choose", b"__msl_graphs_"


def tools(scratch, topic):
    """Makes a folder with the tools that clang runs for the device and that Debian does not have. Most of them are stand-ins."""
    folder = Path(scratch) / "tools"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in "fatbinary", "clang-offload-bundler":
        (folder / name).symlink_to(PROGRAMS / "joined.sh")
    if topic == "cuda":
        (folder / "ptxas").symlink_to(cuda_tool("ptxas"))
    return folder


def main():
    build, scratch, llvm, topic = arguments("build", "scratch", "llvm", "topic")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    environment = {**os.environ, "MSLEAKS_LLVM": llvm, "PATH": f"{tools(scratch, topic)}:{os.environ['PATH']}"}

    def compiled(name, *options):
        """Returns the path of the object file, and the device binaries in the object file."""
        made, binaries = f"{scratch}/{name}.o", f"{scratch}/{name}.binaries"
        for command in ([msleaks.bin / "msleaks-clang++", *options, *options_for(topic), "-Wno-everything", "-O2", "-c", SOURCE, "-o", made],
                        [need(f"llvm-objcopy-{llvm}"), f"--dump-section={SECTION[topic]}={binaries}", made, "/dev/null"]):
            done = run(command, env=environment)
            check(done.returncode == 0, f"{name}: {done.stderr}")
        content = Path(binaries).read_bytes()
        check(content.count(b"\x7fELF") == 1 and b"collatz" in content, f"{name}: there is no code for the device")
        return made, content

    _, plain = compiled("plain")
    equal("without --msl-cfg", [name for name in OURS if name in plain], [])
    made, content = compiled("counting", "--msl-cfg=^main$")
    equal("missing", [name for name in OURS if name not in content], [])
    program = f"{scratch}/program"
    done = run([need("gcc"), "-w", made, PROGRAMS / "no_runtime.c", "-o", program])
    check(done.returncode == 0, done.stderr)
    graphs = counted(msleaks, f"{scratch}/run", [program], 0)
    equal("functions of the host", list(graphs), ["main"])
    equal("main", (graphs["main"]["calls"], max(block["count"] for block in graphs["main"]["blocks"])), (1, 17))


if __name__ == "__main__":
    main()
