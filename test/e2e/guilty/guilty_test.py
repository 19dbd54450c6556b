#!/usr/bin/env python3
"""Checks that the report names the line that a fix would change.

    guilty_test.py BUILD SCRATCH SOURCE

A comment "guilty:" in the program marks this line. After the mark, the comment may give the type that the report must show. One of the
first three findings, and one of the first three rows of the leaks, must show the line. Each program is built three times: with the
plugin at -O0 and at -O2, and without the plugin for hooks alone. A comment "kind:" gives the kind of the finding, if it is not a
leak. A comment "options:" gives options of msleaks-run.
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, plain_compiler, run  # noqa: E402

ROWS = 3
PARTS = Path(__file__).resolve().parent / "parts"


def guilty_lines(source):
    marks = [(number, re.search(r"// guilty: ?(.*)", line)) for number, line in enumerate(Path(source).read_text().splitlines(), 1)]
    return {number: mark[1] for number, mark in marks if mark}


def sources_of(source):
    """Returns the program's own file, and the files of parts/ that its comment "with:" names."""
    return [source, *(str(PARTS / name) for name in re.findall(r"// with: (\S+)", Path(source).read_text()))]


def said_of(source, word):
    """Returns the text after the mark `word` in the program, or an empty text."""
    found = re.search(rf"^// {word}: (.*)", Path(source).read_text(), re.MULTILINE)
    return found[1] if found else ""


def findings_of(text):
    """Returns the text of each finding."""
    section = re.split(r"^Findings.*$", text, maxsplit=1, flags=re.MULTILINE)[-1].split("\n\n")[0]
    return re.split(r"^\d+\.  ", section, flags=re.MULTILINE)[1:]


def leaked_rows(text):
    """Returns the rows of the list of leaks. A row begins with a line that has a size, and includes the lines below it."""
    leaked = text.split("\nLeaked", 1)[-1].split("\n\n")[0].splitlines()[1:]
    rows = []
    for line in leaked:
        if re.match(r" *[\d.]+ [KMG]?i?B ", line):
            rows.append(line)
        elif rows:
            rows[-1] += "\n" + line
    return rows


def expect_named(source, text, types, mode):
    kind = said_of(source, "kind") or "leak"
    findings = [finding for finding in findings_of(text)[:ROWS] if finding.startswith(f"{kind}: ")]
    for rows in [findings, leaked_rows(text)[:ROWS]] if kind == "leak" else [findings]:
        for number, named_type in guilty_lines(source).items():
            place = f"{Path(source).name}:{number}"[-20:]  # the report cuts off the beginning of a long path
            named = [row for row in rows if re.search(re.escape(place) + r"\b", row)]
            check(named, f"{mode}: {place} is not in the first {ROWS}:\n{text}")
            if types and named_type:
                check(any(f"({named_type})" in row for row in named), f"{mode}: {place} is not said to be {named_type}:\n{text}")


def build_program(msleaks, mode, source, scratch):
    compiler = plain_compiler(source)
    objects = []
    for part in sources_of(source):
        objects.append(f"{scratch}/{Path(part).stem}.o")
        if mode == "hooks":
            check(run([compiler, "-g", "-O2", "-w", "-c", part, "-o", objects[-1]]).returncode == 0, f"{part} does not compile")
        else:
            msleaks.compile(part, objects[-1], "-c", "-Wno-everything", flags=[mode])
    program = f"{scratch}/{Path(source).stem}"
    check(run([compiler, *objects, "-o", program, "-pthread"]).returncode == 0, "does not link")
    return program


def main():
    build, scratch, source = arguments("build", "scratch", "source")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    for mode in ("-O0", "-O2", "hooks"):
        program = build_program(msleaks, mode, source, scratch)
        msleaks.run(f"{scratch}/run", [program], ["--no-report", *said_of(source, "options").split()], cwd=scratch)
        text = msleaks.output("report", f"{scratch}/run", "--all", "--width", "400")
        expect_named(source, text, mode != "hooks", mode)
        print(f"{mode}: named")


if __name__ == "__main__":
    main()
