#!/usr/bin/env python3
"""Tests `msleaks oom` on programs that get no memory and then abort, are killed, or continue.
   usage: oom_test.py BUILD SCRATCH LLVM
"""
import ctypes.util
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, plain_compiler  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
PROGRAM, BUFFER = PROGRAMS / "refused.c", PROGRAMS / "refused_buffer.c"
MIB = 1 << 20


def asked(msleaks, folder, *options):
    """Runs `msleaks oom`. Returns its exit status and text."""
    done = subprocess.run([msleaks.bin / "msleaks", "oom", folder, *options], stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def page(msleaks, folder, status):
    found, text = asked(msleaks, folder, "--json")
    equal(f"exit status of oom {folder}", found, status)
    return json.loads(text)


def findings(report):
    return [(finding["confidence"], finding["site"]["line"], finding["bytes"]) for finding in report.json["findings"] if finding["kind"] == "out-of-memory"]


def check_alive(shown):
    """Checks the blocks that are alive: ten of 10 MiB, one of 5 MiB, and small blocks of libc."""
    check(105 * MIB <= shown["alive"]["bytes"] < 106 * MIB, f"alive: {shown['alive']['bytes']}")
    largest, oldest = shown["largest"], shown["oldest"]
    equal("sizes of the largest", [block["bytes"] for block in largest[:11]], [10 * MIB] * 10 + [5 * MIB])
    equal("lines of the largest", {block["site"]["line"] for block in largest[:10]}, {line_of(PROGRAM, "// the largest")})
    ages = [block["age_ns"] for block in oldest]
    equal("ages of the oldest", ages, sorted(ages, reverse=True))
    large = [block for block in oldest if block["bytes"] >= MIB]
    equal("the oldest large one", large[0]["site"]["line"], line_of(PROGRAM, "// the oldest"))


def check_refused(msleaks, scratch, name, program):
    for what, confidence in (("abort", "likely"), ("kill", "likely"), ("go on", "hint")):
        folder = f"{scratch}/{name}-{what.replace(' ', '-')}"
        _, report = msleaks.run(folder, [program, what])
        equal(f"findings of {what}", findings(report), [(confidence, line_of(PROGRAM, "// too much"), 1024 * MIB)])
        equal(f"first finding of {what}", report.json["findings"][0]["kind"], "out-of-memory")
        status, text = asked(msleaks, folder, "--json", "--top", "20")
        equal("exit status", status, 1)
        shown = json.loads(text)
        refused = shown["refused"]
        equal(f"bytes and status of {what}", (refused["bytes"], refused["status"], refused["heap"]), (1024 * MIB, 12, "host"))
        equal(f"place of {what}", (refused["place"]["site"]["line"], refused["place"]["site"]["function"]), (line_of(PROGRAM, "// too much"), "ask"))
        check_alive(shown)
        equal("what to try first", shown["findings"][0]["site"]["line"], line_of(PROGRAM, "// the largest"))
        equal("what that saves", shown["findings"][0]["saves_bytes"], 100 * MIB)
        check(shown["hole"]["bytes"] is None and shown["hole"]["unknown"], f"hole: {shown['hole']}")
        status, text = asked(msleaks, folder)
        for part in ("1.00 GiB of host (Cannot allocate memory)", "refused.c", "in ask", "Alive, the largest", "Alive, the oldest"):
            check(part in text, f"'{part}' is missing in\n{text}")


def check_not_refused(msleaks, scratch, name, program):
    folder = f"{scratch}/{name}-probe"
    _, report = msleaks.run(folder, [program, "probe"])
    equal("findings of probe", findings(report), [])
    shown = page(msleaks, folder, 0)
    check(shown["refused"] is None and shown["refusals"]["count"] == shown["refusals"]["answered"] >= 2, f"probe: {shown['refusals']}")
    folder = f"{scratch}/{name}-kill-alone"
    _, report = msleaks.run(folder, [program, "kill-alone"])
    equal("findings of kill-alone", findings(report), [])
    status, text = asked(msleaks, folder, "--json", "--top", "20")
    equal("exit status", status, 0)
    equal("what was refused to kill-alone", json.loads(text)["refusals"], {"count": 0, "answered": 0})
    check_alive(json.loads(text))
    check("killed by signal 9; the kernel also does this" in asked(msleaks, folder)[1], asked(msleaks, folder)[1])


def check_buffer(msleaks, scratch):
    if not ctypes.util.find_library("OpenCL") or not Path("/usr/include/CL/cl.h").exists():
        return print("no OpenCL on this machine: a buffer that is refused was not tried")
    program, folder = f"{scratch}/refused_buffer", f"{scratch}/buffer"
    msleaks.compile(BUFFER, program, "-lOpenCL")
    done, report = msleaks.run(folder, [program])
    if done.returncode == 77:
        return print("no OpenCL device on this machine: a buffer that is refused was not tried")
    shown = page(msleaks, folder, 1)
    check(shown["refused"]["heap"] == "device" and shown["refused"]["status"] != 0, f"refused: {shown['refused']}")
    equal("place of the buffer", shown["refused"]["place"]["site"]["line"], line_of(BUFFER, "// too much"))
    device = [block for block in shown["largest"] if block["heap"] == "device"]
    equal("buffers", [(block["bytes"], block["site"]["line"]) for block in device][:1], [(3 * MIB, line_of(BUFFER, "// the largest"))])
    equal("findings of the buffer", [kind for kind, line, _ in findings(report) if line == line_of(BUFFER, "// too much")], ["likely"])


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    marked, plain = f"{scratch}/marked", f"{scratch}/plain"
    msleaks.compile(PROGRAM, marked)
    check(subprocess.run([plain_compiler(PROGRAM), "-g", "-O0", PROGRAM, "-o", plain]).returncode == 0, "gcc fails")
    for name, program in (("marked", marked), ("hooked", plain)):
        check_refused(msleaks, scratch, name, program)
        check_not_refused(msleaks, scratch, name, program)
    check_buffer(msleaks, scratch)


main()
