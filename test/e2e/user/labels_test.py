#!/usr/bin/env python3
"""Tests programs that report steps, ranges and marks by the API (msleaks/api.h), built by each compiler, with and without the plugin.
Without msleaks-run the calls must have no effect. After a run, `msleaks dump` must print the texts of the steps, ranges and marks in order.
   usage: labels_test.py BUILD SCRATCH LLVM
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, expect_same, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
INCLUDE = REPOSITORY / "runtime" / "include"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}"]
KINDS = "step,mark,range-begin,range-end,owner-push,owner-pop"

FORWARD = ["RangeBegin forward", "OwnerPush net@conv1", "OwnerPop 0", "RangeEnd 0"]
LIBRARY = ["Mark library", "RangeBegin forward", "RangeEnd 0"]
TRAINING = ["Mark main", "Mark 0", *LIBRARY, "Step 1", *FORWARD, "Step 2", *FORWARD, "OwnerPop 0", "RangeEnd 0", "Mark signal", "Mark end"]
THREAD = ["Mark batch 0", "Mark batch 1", "OwnerPush loader", "OwnerPop 0"]
CHILD = ["Mark signal", "Mark child"]
LAYER = ['OwnerPush net@été "quoted"\n', "OwnerPop 0", "RangeEnd 0"]
INFERENCE = ["Mark before main", *LIBRARY, "RangeBegin layer 0", *LAYER, "RangeBegin layer 1", *LAYER, "Mark after main"]


class Builds:
    def __init__(self, msleaks, scratch):
        self.scratch = scratch
        plugin = [f"-fpass-plugin={msleaks.plugin}", "-g"]
        clang = f"clang-{msleaks.llvm}"
        # {name: (C compiler, C++ compiler, options)}
        self.all = {
            "gcc": ("gcc", "g++", ["-O2"]),
            "gcc-hidden": ("gcc", "g++", ["-O0", "-fvisibility=hidden"]),
            "gcc-fixed": ("gcc", "g++", ["-O2", "-fno-pie", "-no-pie"]),
            "clang": (clang, clang.replace("clang", "clang++"), ["-O0"]),
            "clang-fixed": (clang, clang.replace("clang", "clang++"), ["-O2", "-fno-pie", "-no-pie"]),
            "plugin": (clang, clang.replace("clang", "clang++"), ["-O0", *plugin]),
            "plugin-optimised": (clang, clang.replace("clang", "clang++"), ["-O2", *plugin]),
        }

    def compile(self, name):
        """Builds the library, the C program and the C++ program, and returns their paths."""
        c, cxx, options = self.all[name]
        library, training, inference = (f"{self.scratch}/{name}-{what}" for what in ("libsays.so", "training", "inference"))
        of_library = [option for option in options if "pie" not in option]
        done(c, "-std=c99", *STRICT, *of_library, "-shared", "-fPIC", PROGRAMS / "says.c", "-o", library)
        done(c, "-std=c99", "-D_GNU_SOURCE", *STRICT, *options, PROGRAMS / "training.c", "-o", training, "-pthread", "-ldl")
        done(cxx, "-std=c++11", *STRICT, *options, PROGRAMS / "inference.cpp", library, "-o", inference)
        return library, training, inference


def done(*command):
    check(subprocess.run(command).returncode == 0, f"does not compile: {' '.join(map(str, command))}")


def spoken(msleaks, folder):
    """Returns a list of the events of each thread. An event consists of its kind, and its text or number."""
    threads = {}
    for line in msleaks.output("dump", folder, "--json", "--kind", KINDS).splitlines():
        event = json.loads(line)
        if "label_number" in event:
            check((event["label"] is None) == (event["label_number"] == 0), f"a label without its text: {event}")
        said = event.get("label") or event.get("number") or event.get("id") or 0
        threads.setdefault((event["pid"], event["tid"]), []).append(f"{event['event']} {said}")
    return list(threads.values())


def expect(msleaks, name, scratch, program, wanted, options=()):
    alone = run(program)
    check(alone.returncode == 0, f"{name}: alone it ends with {alone.returncode}: {alone.stderr}")
    folder = f"{scratch}/{name}.run"
    watched, report = msleaks.run(folder, program, ["--no-report", *options])
    expect_same(alone, watched, stderr=True)
    report.expect_account()
    check(spoken(msleaks, folder) == wanted, f"{name}: it said {spoken(msleaks, folder)}, not {wanted}")
    print(f"{name}: {sum(map(len, wanted))} events")


def expect_static(msleaks, build, scratch):
    """Tests a static program at a fixed address, which contains the whole archive of the runtime, and the library's code."""
    probe = ["gcc", "-static", "-x", "c", "-", "-o", f"{scratch}/probe"]
    if subprocess.run(probe, input=b"int main(void){return 0;}", stderr=subprocess.DEVNULL).returncode != 0:
        return print("static: not tried, no static libc on this machine")
    done("gcc", "-std=c99", *STRICT, "-fno-pie", "-c", PROGRAMS / "says.c", "-o", f"{scratch}/says.o")
    whole = ["-Wl,--whole-archive", "-lmsleaks_rt", "-Wl,--no-whole-archive"]
    program = f"{scratch}/static"
    done("g++", "-std=c++11", *STRICT, "-static", "-fno-pie", "-no-pie", PROGRAMS / "inference.cpp", f"{scratch}/says.o", f"-L{build}/lib", *whole,
         "-o", program)
    expect(msleaks, "static", scratch, [program], [INFERENCE])


def expect_lines(msleaks, folder):
    """Checks that the dump has the texts without --json, too."""
    text = msleaks.output("dump", folder, "--kind", "mark")
    check(' label="library" label_number=' in text and " label=null label_number=0" in text, text)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    builds = Builds(msleaks, scratch)
    for name in builds.all:
        library, training, inference = builds.compile(name)
        expect(msleaks, f"{name}-training", scratch, [training, library], [TRAINING, THREAD, CHILD])
        expect(msleaks, f"{name}-inference", scratch, [inference], [INFERENCE])
    expect_lines(msleaks, f"{scratch}/gcc-training.run")
    expect_static(msleaks, build, scratch)
    library, training, _ = builds.compile("gcc")
    only_steps = [[text for text in TRAINING if text.startswith("Step")]]
    expect(msleaks, "only-steps", scratch, [training, library], only_steps, ["--events", "step,alloc,free"])
    expect(msleaks, "paused", scratch, [training, library], [], ["--start-paused"])


if __name__ == "__main__":
    main()
