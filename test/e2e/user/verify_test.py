#!/usr/bin/env python3
"""Tests `msleaks verify`, which proves or refutes a finding by a second run. The first run could not see all uses of a block.
   usage: verify_test.py BUILD SCRATCH LLVM
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "verified.cpp"
# {way to use the spare block in the second run: text of the line that touches it}
USES = {
    "read": "// reads it",
    "thread": "// another thread",
    "child": "// the child",
    "kernel": "// the kernel",
    "list": "// a list",
}


KINDS = {("unused", "host"): None, ("unused", "mapping"): "// the mapping", ("overallocated", "host"): "// half of it",
         ("early-allocation", "host"): "// waits"}
# {finding: text of the line that first touches the block}
TOUCHES = {("overallocated", "host"): "memset(half, 2, kBytes)", ("early-allocation", "host"): "// at last"}


def verify(msleaks, folder, finding, command, status):
    done = run([msleaks.bin / "msleaks", "verify", folder, finding["id"], "--json", "--", *command])
    equal(f"{command}: status, {done.stderr}", done.returncode, status)
    check(f"used: {(command[1:] or [''])[0]}\n" in done.stderr, f"what the program printed: {done.stderr}")
    verdict = json.loads(done.stdout)
    equal(f"{command}: status of the program", (verdict["finding"], verdict["exit_status"]), (finding["id"], 0))
    return verdict


def expect_proved(msleaks, folder, findings, program):
    for key, finding in findings.items():
        verdict = verify(msleaks, folder, finding, [program], 0)
        equal(f"{key}: result", verdict["result"], "proved")
        equal(f"{key}: where it was touched", (verdict["site"] or {}).get("line"), TOUCHES.get(key) and line_of(PROGRAM, TOUCHES[key]))
    verdict = verify(msleaks, folder, findings["unused", "host"], [program, "grow"], 0)
    equal("grow: another place's block is touched", verdict["result"], "proved")


def expect_refuted(msleaks, folder, findings, program):
    for use, text in USES.items():
        verdict = verify(msleaks, folder, findings["unused", "host"], [program, use], 1)
        equal(f"{use}: result", verdict["result"], "refuted")
        equal(f"{use}: line", verdict["site"]["line"], line_of(PROGRAM, text))
        lines = [frame["line"] for frame in verdict["paths"][0]["frames"]]
        check(use == "thread" or line_of(PROGRAM, "use(how);") in lines, f"{use}: the way there: {verdict['paths']}")
    for use, key in (("half", ("overallocated", "host")), ("early", ("early-allocation", "host")), ("mapping", ("unused", "mapping"))):
        verdict = verify(msleaks, folder, findings[key], [program, use], 1)
        equal(f"{use}: result", verdict["result"], "refuted")


def expect_unknown(msleaks, folder, findings, report, program):
    for use in ("unmap", "remap"): # these calls change the mapping, so msleaks stops watching it
        verdict = verify(msleaks, folder, findings["unused", "mapping"], [program, use], 1)
        equal(f"{use}: result", (verdict["result"], verdict["touched_blocks"]), ("unknown", 0))
    verdict = json.loads(run([msleaks.bin / "msleaks", "verify", folder, findings["unused", "host"]["id"], "--json", "--", "true"]).stdout)
    equal("another program", (verdict["result"], verdict["site"], verdict["paths"]), ("unknown", None, []))
    other = next(finding for finding in report.json["findings"] if finding["kind"] == "leak")
    verdict = json.loads(run([msleaks.bin / "msleaks", "verify", folder, other["id"], "--json", "--", "false"]).stdout)
    equal("another kind", (verdict["result"], verdict["exit_status"]), ("unknown", None))


def expect_errors(msleaks, folder, findings):
    for what, words, status, message in (
        ("no such finding", [folder, "nothing", "--", "true"], 2, "'nothing' is none of the "),
        ("no such program", [folder, findings["unused", "host"]["id"], "--", "/no/such"], 3, "/no/such: No such file"),
        ("no such run", ["/no/run", "1", "--", "true"], 3, "/no/run"),
    ):
        done = run([msleaks.bin / "msleaks", "verify", *words])
        equal(f"{what}: {done.stderr}", (done.returncode, message in done.stderr, done.stderr.count("\n")), (status, True, 1))


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    instrumented, plain = f"{scratch}/instrumented", f"{scratch}/plain"
    msleaks.compile(PROGRAM, instrumented, "-pthread", flags=("-O1",))
    subprocess.run(["g++", "-std=c++20", "-g", "-O1", PROGRAM, "-o", plain, "-pthread"], check=True)
    # The plugin recognises allocateSpare as a wrapper. So the finding of the instrumented program has the line of the wrapper's
    # caller.
    for program, spare in ((instrumented, "spare = allocateSpare();"), (plain, "// the spare one")):
        folder = f"{scratch}/run"
        _, report = msleaks.run(folder, [program], ["--access", "pages"])
        findings = {(finding["kind"], finding["heap"]): finding for finding in report.json["findings"] if (finding["kind"], finding["heap"]) in KINDS}
        equal(f"{program}: findings", {key: finding["site"]["line"] for key, finding in findings.items()},
              {key: line_of(PROGRAM, text or spare) for key, text in KINDS.items()})
        expect_proved(msleaks, folder, findings, program)
        expect_refuted(msleaks, folder, findings, program)
        expect_unknown(msleaks, folder, findings, report, program)
        expect_errors(msleaks, folder, findings)


main()
