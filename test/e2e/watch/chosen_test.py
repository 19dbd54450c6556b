#!/usr/bin/env python3
"""Tests `msleaks-run --watch`. The option selects the watched blocks by the line that allocates them, or by their address. It can also
limit the watch to the time from one operation to another. Also tests values of --watch that msleaks-run refuses.
   usage: chosen_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import Msleaks, build_programs, check, equal, run  # noqa: E402
from msleaks_e2e import arguments, expect_same, line_of  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/chosen.c"
OFFSET, BYTES, STEPS = 100, 8, (1, 2, 3)


WAITS = "waits for each launch, copy and fill"


def changes(msleaks, folder, program, watch):
    done, report = msleaks.run(folder, [program], [f"--watch={watch}"])
    expect_same(run([program]), done)
    report.expect_account()
    equal("said that it waits", (done.stderr.count(WAITS), " ".join(report.json["notes"]).count(WAITS)), (1, 1))
    return [(change["name"], change["operator"], change["offset"], change["step"]) for change in report.json["watch"]]


def expect_chosen(msleaks, scratch, program):
    line = line_of(SOURCE, "// weights")
    load = lambda name: (name, "load", 0, None)
    scale = lambda name, steps=STEPS: [(name, "scale", OFFSET, step) for step in steps]
    place, mapped = "chosen.c", f"{1 << 40:#x}"
    for number, (watch, expected) in enumerate((
            (f"chosen.c:{line}", [load(place), *scale(place)]),
            (f"{SOURCE}:{line}:50", [load(str(SOURCE))]),
            (f"programs/chosen.c:{line},load", scale("programs/chosen.c")),
            (f"chosen.c:{line},relu,scale", scale(place, (1,)) + scale(place, (2, 3))),
            (f"chosen.c:{line},,load", [load(place)]),
            (f"hosen.c:{line}", []),
            (f"chosen.c:{line + 1000}", []),
            (mapped, [load(mapped), *scale(mapped)]),
            (f"{1 << 40}:100", [load(mapped)]))):
        equal(f"--watch {watch}", changes(msleaks, f"{scratch}/{Path(program).name}-{number}", program, watch), expected)


def expect_refused(msleaks, scratch):
    for watch in ("", "a.c:0", ":5", "0x10:x", "weights:0", "a,b,c,d", "x" * 300, "net.cpp", "src/net.cpp:x", "net.cpp:12:x", "0x12q", "0", "0x10:0", "a," + "y" * 200, "full.c:99999999999"):
        done = run([msleaks.bin / "msleaks-run", "-o", f"{scratch}/refused", f"--watch={watch}", "--", "/bin/true"])
        equal(f"--watch {watch}: exit status", done.returncode, 2)
        check(done.stderr.count("\n") == 1 and "--watch" in done.stderr, f"--watch {watch}: {done.stderr}")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE).items():
        expect_chosen(msleaks, scratch, program)
        print(f"{name}: as named")
    expect_refused(msleaks, scratch)


if __name__ == "__main__":
    main()
