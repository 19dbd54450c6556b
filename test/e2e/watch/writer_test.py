#!/usr/bin/env python3
"""Tests `msleaks verify` for a changed block. This command runs the program again and must find the instruction that changed the
watched block (docs/verify.md). The program behaves as without msleaks.
   usage: writer_test.py BUILD SCRATCH
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import Msleaks, build_programs, check, equal, run  # noqa: E402
from msleaks_e2e import arguments, line_of  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/writer.c"
BUSY = SOURCE.with_name("writer_busy.c")
OFFSET, STRAY = 96, 16
FOR_EACH = ("// one", "// for each", "overrun(count, step);")
# {arguments of writer.c: (texts of the writing line and its callers, number of writes, offset of the change, changed bytes)}. The number
# of writes is None if it depends on libc.
WRITES = {
    ("index", "pool"): (FOR_EACH, OFFSET + STRAY, 0, OFFSET + STRAY),
    ("index", "global"): (FOR_EACH, OFFSET + STRAY, 0, OFFSET + STRAY),
    ("index", "stack"): (FOR_EACH, OFFSET + STRAY, 0, OFFSET + STRAY),
    ("signal", "stack"): (FOR_EACH, OFFSET + STRAY, 0, OFFSET + STRAY),
    ("beside", "pool"): (FOR_EACH, OFFSET + STRAY, 0, OFFSET + STRAY),
    ("fork", "pool"): (FOR_EACH[:2], OFFSET + STRAY, 0, OFFSET + STRAY),
    ("memset", "pool"): (("// set", "set_all(count, step);"), None, 0, OFFSET + STRAY),
    ("repeat", "pool"): (("// repeat", "repeat(count, step);"), 1, 0, OFFSET + STRAY),
    ("memcpy", "pool"): (("// copy", "copy_all(count, step);"), None, 0, OFFSET + STRAY),
    ("read", "pool"): (("// read", "fill_from(ends[0], to, count);"), 1, 0, OFFSET + STRAY),
    ("thread", "pool"): (("// one", "// helper"), 1, OFFSET, 1),
}


def lines_of(frames):
    return [frame["line"] for frame in frames if frame["file"] and frame["file"].endswith("writer.c")]


def verify(msleaks, folder, command, status, same=True):
    plain = run(command)
    done = run([msleaks.bin / "msleaks", "verify", folder, "1", "--json", "--", *command])
    equal(f"{command[1:]}: status, {done.stderr} {done.stdout}", done.returncode, status)
    verdict = json.loads(done.stdout)
    if same:
        equal(f"{command[1:]}: what the program does", (verdict["exit_status"], done.stderr), (plain.returncode, plain.stdout))
    equal(f"{command[1:]}: kind", verdict["kind"], "trampled")
    return verdict


def record(msleaks, folder, command, *options, operation="relu"):
    _, report = msleaks.run(folder, command, options)
    finding = report.json["findings"][0]
    equal(f"{command[1:]}: the first finding", (finding["kind"], finding["evidence"]["operation"]), ("trampled", operation))
    check("`msleaks verify` names the instruction" in finding["advice"], finding["advice"])


def expect_written(msleaks, folder, command, lines, writes, offset, stray):
    verdict = verify(msleaks, folder, command, 0)
    equal(f"{command[1:]}: result", verdict["result"], "proved")
    expected = [line_of(SOURCE, line) for line in lines]
    equal(f"{command[1:]}: line", verdict["site"]["line"], expected[0])
    path = verdict["paths"][0]
    equal(f"{command[1:]}: calls", lines_of(path["frames"])[:len(expected)], expected)
    equal(f"{command[1:]}: bytes", (path["offset"], path["bytes"], path["step"], path["given"]), (offset, stray, 2, False))
    check(writes is None or path["writes"] == writes, f"{command[1:]}: {path['writes']} writes")
    equal(f"{command[1:]}: by", path["by"], "call" if command[1] == "read" else "instruction")
    print(f"{command[1:]}: {verdict['why']}")


def expect_others(msleaks, folder, program):
    verdict = verify(msleaks, folder, [program, "index", "pool", "mended"], 1)
    equal("mended", (verdict["result"], verdict["site"], verdict["paths"]), ("refuted", None, []))
    verdict = verify(msleaks, folder, [program, "given", "pool"], 1)
    equal("given", (verdict["result"], verdict["site"]["line"]), ("unknown", line_of(SOURCE, "// read")))
    done = run([msleaks.bin / "msleaks", "verify", folder, "1", "--json", "--", "true"])
    equal("another program", json.loads(done.stdout)["result"], "unknown")
    text = run([msleaks.bin / "msleaks", "verify", folder, "1", "--", program, "index"]).stdout
    check("verdict   proved: " in text and f"written   {SOURCE}:{line_of(SOURCE, '// one')}:" in text, text)


# Tests a first run with a block that --watch selects by its line, alone or with a number of bytes.
def expect_chosen(msleaks, scratch, program):
    command, folder = [program, "index", "own"], f"{scratch}/{Path(program).name}-own"
    for number, bytes in enumerate(("", ":100")):
        record(msleaks, f"{folder}-{number}", command, f"--watch=writer.c:{line_of(SOURCE, '// weights')}{bytes}")
        expect_written(msleaks, f"{folder}-{number}", command, FOR_EACH, *((OFFSET + STRAY, 0, OFFSET + STRAY), (100, 0, 100))[number])


# Tests a block whose page other code uses, too. A thread may wait in a system call that writes into this page. Then msleaks must leave
# the page writable, so it cannot see writes.
def expect_busy(msleaks, scratch, program):
    folder = f"{scratch}/{Path(program).name}-run"
    record(msleaks, folder, [program], operation="busy")
    for _ in range(3):
        verdict = verify(msleaks, folder, [program, "now"], 0)
        equal("busy", (verdict["result"], verdict["site"]["line"], [path["writes"] for path in verdict["paths"]]),
              ("proved", line_of(BUSY, "// stray"), [20]))
    verdict = verify(msleaks, folder, [program, "late"], 1, same=False) # the end of a child may interrupt a waiting call
    equal("late", (verdict["result"], verdict["exit_status"]), ("unknown", 3))


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for name, program in build_programs(build, scratch, SOURCE).items():
        for (how, where), written in WRITES.items():
            folder = f"{scratch}/{Path(program).name}-{how}-{where}"
            record(msleaks, folder, [program, how, where])
            expect_written(msleaks, folder, [program, how, where], *written)
        expect_others(msleaks, f"{scratch}/{Path(program).name}-index-pool", program)
        expect_chosen(msleaks, scratch, program)
        print(f"{name}: as written")
    os.makedirs(f"{scratch}/busy", exist_ok=True)
    for name, program in build_programs(build, f"{scratch}/busy", BUSY).items():
        expect_busy(msleaks, f"{scratch}/busy", program)
        print(f"{name}: busy")


if __name__ == "__main__":
    main()
