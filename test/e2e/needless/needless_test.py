#!/usr/bin/env python3
"""Checks that the report names a needless peak, and no longer names it when the program is mended.

    needless_test.py BUILD SCRATCH SOURCE

A comment "guilty" in the program marks the line that the first finding must have. The comment "kind:" gives the kind of this finding,
and the comment "saves:" its saving in bytes. The program is built three times: with the plugin at -O0 and at -O2, and without the
plugin for hooks alone. With -DMENDED, it must have no finding of the kinds in KINDS.
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, plain_compiler, run  # noqa: E402

KINDS = {"copy", "capacity", "early-allocation", "late-free", "unused", "overallocated"}
TOLERANCE = 0.05  # allowed error of a saving, since page tables count whole pages


def said_of(text, word):
    return re.search(rf"^// {word}: (.*)", text, re.MULTILINE)[1]


def guilty_line(text):
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith("// guilty"))


def findings_of(msleaks, mode, source, scratch, *options):
    program = f"{scratch}/{Path(source).stem}"
    if mode == "hooks":
        command = [plain_compiler(source), "-g", "-O2", "-w", *options, source, "-o", program]
        check(run(command).returncode == 0, f"{source} does not compile")
    else:
        msleaks.compile(source, program, "-Wno-everything", *options, flags=[mode])
    done, report = msleaks.run(f"{scratch}/run", [program], ["--no-report"], cwd=scratch)
    equal(f"{mode} {options}: exit status", done.returncode, 0)
    return done.stdout, report.json["findings"]


def expect_named(findings, text, mode):
    check(findings, f"{mode}: no finding")
    first = findings[0]
    shown = {key: first[key] for key in ("kind", "saves_bytes", "bytes", "evidence", "advice")} | {"line": first["site"]["line"]}
    equal(f"{mode}: kind of {shown}", first["kind"], said_of(text, "kind"))
    equal(f"{mode}: line of {shown}", first["site"]["line"], guilty_line(text))
    wanted = int(said_of(text, "saves"))
    check(abs(first["saves_bytes"] - wanted) <= TOLERANCE * wanted, f"{mode}: the saving is not {wanted}: {shown}")


def main():
    build, scratch, source = arguments("build", "scratch", "source")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    text = Path(source).read_text()
    for mode in ("-O0", "-O2", "hooks"):
        output, findings = findings_of(msleaks, mode, source, scratch)
        expect_named(findings, text, mode)
        mended_output, mended = findings_of(msleaks, mode, source, scratch, "-DMENDED")
        equal(f"{mode}: output of the mended program", mended_output, output)
        needless = [(finding["kind"], finding["site"]["line"], finding["saves_bytes"]) for finding in mended if finding["kind"] in KINDS]
        check(not needless, f"{mode}: the mended program still has {needless}")
        print(f"{mode}: named")


if __name__ == "__main__":
    main()
