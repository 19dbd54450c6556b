#!/usr/bin/env python3
"""rustc compiles a Rust program with the plugin. Of the recorded blocks, only the forgotten ones must be alive at the end. At
optimization level 2, each has the program's line that called std, because std's function is inlined there.

    rust_test.py BUILD SCRATCH LLVM

rustc loads LLVM plugins with -Z llvm-plugins. Only nightly releases accept this option, but RUSTC_BOOTSTRAP=1 makes any release
accept it. The LLVM of rustc must have the plugin's version. Rust's allocator functions have the attribute allockind and call malloc.
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, line_of, need, run, skip  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/blocks.rs"
LEAKS = {"boxed = Box::leak": 4097, "aligned = Box::leak": 768, "grown.shrink_to_fit": 130}


def rustc_of(llvm):
    rustc = need("rustc")
    said = run([rustc, "-vV"]).stdout
    found = re.search(r"^LLVM version: (\d+)", said, re.MULTILINE)
    if not found or found[1] != llvm:
        skip(f"no rustc with LLVM {llvm} on this machine; {rustc} has {found[1] if found else 'none that it names'}")
    return rustc


def own_line(site):
    """Returns the line of the program itself that called std."""
    frames = [site, *site["inlined_at"]]
    return next((frame["line"] for frame in frames if (frame["file"] or "").endswith(SOURCE.name)), None)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    rustc = rustc_of(llvm)
    msleaks = Msleaks(build, llvm)
    os.environ["RUSTC_BOOTSTRAP"] = "1"
    for level in ("0", "2"):
        plain, program = f"{scratch}/plain-{level}", f"{scratch}/blocks-{level}"
        for output, plugin in ((plain, []), (program, ["-Z", f"llvm-plugins={msleaks.plugin}"])):
            done = run([rustc, "--edition=2021", "-g", "-C", f"opt-level={level}", *plugin, SOURCE, "-o", output])
            check(done.returncode == 0, f"rustc, level {level}: {done.stderr}")
        alone = run([plain])
        check(alone.stdout == "499501 4930\n", f"the program prints {alone.stdout}")
        expect_same(alone, run([program]), stderr=True)
        watched, report = msleaks.run(f"{scratch}/run-{level}", [program], ["--no-report"])
        expect_same(alone, watched, stderr=True)
        report.expect_account()
        blocks = report.json["blocks"]
        check(blocks["unmatched_frees"] == blocks["late_frees"] == blocks["implicit_frees"] == 0, f"level {level}: {blocks}")
        rows = [row for row in report.alive() if row["site"]["origin"] == "pass"]
        found = sum(row["count"] for row in rows), sum(row["bytes"] for row in rows)
        check(found == (len(LEAKS), sum(LEAKS.values())), f"level {level}: alive at the end {rows}")
        if level == "2":  # without optimisation no function of std is inlined, so each block has a line in std
            lines = {own_line(row["site"]): row["bytes"] for row in rows}
            check(lines == {line_of(SOURCE, text): size for text, size in LEAKS.items()}, f"bytes by line: {lines}")
    print(f"{rustc}: {len(LEAKS)} blocks alive at the end, by line where std is inlined")


if __name__ == "__main__":
    main()
