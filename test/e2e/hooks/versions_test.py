#!/usr/bin/env python3
"""Tests hooks in processes that load several versions of one library. Some library files have unusual names, as in Python wheels. Each
call must reach the same function as without hooks, and msleaks must record its blocks.
   usage: versions_test.py BUILD SCRATCH
"""
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, expect_same, need, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
RENAMED = "libcudart-d0da41ae.so.11.0"


def compile(output, *command):
    done = run([need("gcc"), "-g", "-w", "-o", output, *command])
    check(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}")
    return output


class Libraries:
    """Builds the test's libraries in one folder, which is their RPATH."""
    def __init__(self, scratch):
        self.scratch = scratch

    def shared(self, source, name, *options):
        return compile(f"{self.scratch}/{name}", "-shared", "-fPIC", PROGRAMS / source, "-Wl,--no-as-needed", *options, f"-Wl,-soname,{name}",
                       f"-Wl,-rpath,{self.scratch}")

    def runtime(self, version, name, versioned):
        map_file = Path(f"{self.scratch}/{version}.map")
        map_file.write_text(f"libcudart.so.{version} {{ global: *; }};\n")
        options = [f"-Wl,--version-script={map_file}"] if versioned else []
        return self.shared("one_runtime.c", name, f"-DVERSION={version}", *options)

    def user(self, name, *needs, source="runtime_user.c"):
        return self.shared(source, name, *needs)


def events_of(msleaks, folder, kind):
    events = [json.loads(line) for line in msleaks.output("dump", folder, "--json", "--kind", kind).splitlines()]
    return [event for event in events if event["heap"] == "device"]


def expect(msleaks, scratch, program, topic, words, recorded, hooks=()):
    """Runs the program and checks its blocks. `recorded` has the sizes of the expected blocks. The blocks with an odd size are freed.
    Returns the report's notes about CUDA."""
    plain = run([program, *words])
    equal(f"{topic}: the program alone", (plain.returncode, plain.stderr), (0, ""))
    check(re.search("blocks: [01 ]*0", plain.stdout) is None, plain.stdout)
    folder = f"{scratch}/{topic}.run"
    done, report = msleaks.run(folder, [program, *words], hooks)
    expect_same(plain, done)
    report.expect_account()
    equal(f"{topic}: blocks", [event["size"] for event in events_of(msleaks, folder, "alloc")], recorded)
    equal(f"{topic}: frees", len(events_of(msleaks, folder, "free")), len([size for size in recorded if size % 2]))
    if "close" not in words: # a library that is opened again can get the addresses of its old memory, which causes further notes
        equal(f"{topic}: notes about frees", [note for note in report.json["notes"] if "live one" in note], [])
    print(f"{topic}: {plain.stdout.splitlines()}")
    return [note for note in report.json["notes"] if "cuda" in note]


def others_hooks(scratch):
    """Builds two hook libraries for functions that msleaks already hooks: with today's headers, and as in the first version."""
    new = Path(f"{scratch}/new_hooks.cpp")
    new.write_text('#include "msleaks/hook.h"\nMSL_HOOK(libcudart, int, cudaMalloc, (void **, size_t))\nMSL_HOOK(libcudart, int, cudaFree, (void *))\n')
    built = {}
    for source in new, PROGRAMS / "old_hooks.cpp":
        built[source.stem] = f"{scratch}/{source.stem}.so"
        done = run([need("g++"), "-std=c++20", "-shared", "-fPIC", f"-I{REPOSITORY}/runtime/include", source, "-o", built[source.stem]])
        check(done.returncode == 0, done.stderr)
    return built


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks, made = Msleaks(build), Libraries(scratch)
    program = compile(f"{scratch}/opener", PROGRAMS / "opener.c", "-ldl")

    def see(topic, words, recorded, host=program, hooks=()):
        return expect(msleaks, scratch, host, topic, words, recorded, hooks)

    others = others_hooks(scratch)

    # Tests a library whose file has an unusual name, as in a Python wheel.
    renamed = made.user("libuser.so", made.runtime(11, RENAMED, versioned=False))
    equal("notes", see("renamed", [f"l:{renamed}"], [1000, 1001]), [])
    see("renamed-message", [f"o:{renamed}", "fail", "use", "message"], [1010, 1011])
    see("renamed-reopened", [f"l:{renamed}", "close", f"l:{renamed}"], [1000, 1001, 1010, 1011])

    # Tests plug-ins that are linked with different versions of the library. The libraries have versioned symbols, as CUDA's libraries
    # have, or plain symbols.
    for kind, versioned in ("versioned", True), ("plain", False):
        runtimes = {version: made.runtime(version, f"libcudart.so.{version}", versioned) for version in (11, 12)}
        users = {version: made.user(f"libuser{version}.so", runtimes[version]) for version in runtimes}
        both = [f"l:{users[12]}", f"l:{users[11]}", f"l:{users[12]}"]
        see(f"{kind}-twins", both, [1000, 1001, 1010, 1011, 1020, 1021])
        for name, library in others.items():  # in the search order, these hooks come after msleaks' own hooks
            see(f"{kind}-twins-{name}", both, [1000, 1001, 1010, 1011, 1020, 1021], hooks=["--hooks", library])
        see(f"{kind}-global", [f"g:{runtimes[12]}", f"l:{users[11]}", f"l:{users[12]}"], [1010, 1011, 1020, 1021])
        # The linker has already bound the first plug-in's calls. Opening another version with RTLD_GLOBAL must not rebind them.
        see(f"{kind}-bound", [f"l:{users[11]}", f"g:{runtimes[12]}", f"l:{users[11]}", f"l:{users[12]}"], [1000, 1001, 1020, 1021, 1030, 1031])
        see(f"{kind}-reopened", [f"l:{users[12]}", "close", f"l:{users[11]}", "close", f"l:{users[12]}"], [1000, 1001, 1010, 1011, 1020, 1021])
        see(f"{kind}-deepbind", [f"l:{users[12]}", f"d:{users[11]}"], [1000, 1001])
        see(f"{kind}-namespace", [f"l:{users[12]}", f"n:{users[11]}"], [1000, 1001])
        # The program itself is linked with version 12, and one of its plug-ins with version 11.
        linked = compile(f"{scratch}/linked-{kind}", PROGRAMS / "opener.c", "-Wl,--no-as-needed", runtimes[12], f"-Wl,-rpath,{scratch}", "-ldl")
        see(f"{kind}-linked", ["default", f"l:{users[11]}", f"l:{users[12]}"], [1000, 1010, 1011, 1020, 1021], host=linked)
        # This plug-in is not linked with a runtime library. Another library, the group, loads the plug-in and a runtime library. The
        # plug-in's calls must reach this runtime library.
        bare = made.user(f"libbare{kind}.so")
        group = made.user(f"libgroup{kind}.so", bare, runtimes[11], source="nothing.c")
        see(f"{kind}-group", [f"l:{users[12]}", f"l:{group}"], [1000, 1001, 1010, 1011])
        # dlsym with a library's handle must return the function of that library. For the second library, msleaks returns the function
        # without a hook, and a note says that its calls are not recorded.
        notes = see(f"{kind}-looked-up", [f"s:{runtimes[12]}", f"s:{runtimes[11]}", f"s:{runtimes[12]}"], [1000, 1001, 1020, 1021])
        check(len(notes) == 1 and "libcudart.so.11" in notes[0] and "not recorded" in notes[0], notes)
        see(f"{kind}-both-ways", [f"l:{users[11]}", f"s:{runtimes[12]}", f"l:{users[11]}", "default"], [1000, 1001, 1010, 1011, 1020, 1021])

    # No library defines the functions that this plug-in calls. Without msleaks the dynamic linker would end the program. With msleaks
    # the calls return error codes.
    without = made.user("libwithout.so", source="without_runtime.c")
    done, report = msleaks.run(f"{scratch}/missing.run", [program, f"l:{without}", f"l:{without}"])
    wanted = ["opencl: 0 -59 -59", "cuda: 302 302 1 1", "hip: 302 acl: 200001 hal: 65534"]
    equal("calls of functions that nobody has", done.stdout.splitlines(), wanted * 2)
    notes = [note for note in report.json["notes"] if "which no loaded library has" in note]
    equal("notes of them", len(notes), 7)
    check(all("libwithout.so calls " in note for note in notes), notes)


if __name__ == "__main__":
    main()
