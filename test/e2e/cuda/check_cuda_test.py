#!/usr/bin/env python3
"""Tests scripts/check-cuda.sh without a GPU, on an existing build. A stand-in of CUDA's driver runs the kernels on the host. A shell
script stands in for PyTorch and prints the time of a training step. The script must fail if this time is above the limit, or if a
kernel's counts are wrong. It must skip the parts that need a network, and name them in its output.
   usage: check_cuda_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "graphs"))
from modules_test import Device  # noqa: E402
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, run  # noqa: E402

# Replaces the Python interpreter that has PyTorch. Prints a step time of 10 ms, or of $WATCHED_MS under msleaks-run.
PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit "${NO_PYTORCH:-0}"
ms=10
case "$LD_PRELOAD" in *libmsleaks*) ms=$WATCHED_MS ;; esac
echo '{"torch": "none", "device": "none", "reserved": 0, "allocated": 0, "ranges": 0, "step_ms": '$ms'}'
"""
NSYS = "#!/bin/sh\nwhile [ \"${1%python}\" = \"$1\" ]; do shift; done\nexec \"$@\"\n"


def executable(path, text):
    Path(path).write_text(text)
    os.chmod(path, 0o755)
    return path


def checked(build, scratch, status, *words, python=(), **variables):
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{scratch}/driver", "ROUNDS": "1", **variables}
    done = run([REPOSITORY / "scripts/check-cuda.sh", "--built", build, *python], env=environment)
    said = done.stdout + done.stderr
    equal(f"{variables}: status {said}", done.returncode, status)
    for word in words:
        check(word in said, f"{variables}: no '{word}' in {said}")
    return said


def expect_prepared(build, folder):
    """The programs of a prepared folder must run without a compiler, and with the driver of the machine on which they run."""
    command = [sys.executable, "-B", Path(__file__).with_name("kernels_cuda_test.py"), build]
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{folder}/../driver"}
    for what, words, path in ("prepare", [folder, "prepare"], os.environ["PATH"]), ("run", [f"{folder}-run", folder], "/nowhere"):
        done = run([*command, *words], env={**environment, "PATH": path})
        equal(f"{what}: status {done.stdout}{done.stderr}", done.returncode, 0)
    check("kernels: " in done.stdout, done.stdout)
    done = run([REPOSITORY / "scripts/check-cuda.sh", "--prepare", folder])
    equal("a folder that exists", (done.returncode, "name of a new folder" in done.stderr), (2, True))


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(f"{scratch}/driver", exist_ok=True)
    os.makedirs(f"{scratch}/bin", exist_ok=True)
    device = Device(Msleaks(build), f"{scratch}/driver", "cuda")
    os.environ["STANDIN_MODULE"] = device.module("counted", "cfg")
    python = [executable(f"{scratch}/python", PYTHON)]
    skips = ["skipped: packages of the system", "skipped: the build"]
    said = checked(build, scratch, 0, *skips, "| 1.010 | - |", "skipped: nsys", python=python, WATCHED_MS="10.1")
    check("installing" not in said, said)
    checked(build, scratch, 1, "at most 1.02", "caching allocator: 1.030", "CUDA graph: 1.030", python=python, WATCHED_MS="10.3")
    executable(f"{scratch}/bin/nsys", NSYS)
    checked(build, scratch, 0, "| 1.010 | 1.000 |", python=python, WATCHED_MS="10.1", PATH=f"{scratch}/bin:{os.environ['PATH']}")
    checked(build, scratch, 77, "kernels: ", "has no PyTorch", python=python, NO_PYTORCH="1")
    checked(build, scratch, 1, "on a GPU, []: kernels", python=python, WATCHED_MS="10.1", STANDIN_MODULE=device.module("plain", "off"))
    checked(f"{scratch}/nothing", scratch, 2, "there is no")
    expect_prepared(build, f"{scratch}/prepared")
    checked(build, scratch, 77, "skipped: no device", LD_LIBRARY_PATH="")
    print("ok")


if __name__ == "__main__":
    main()
