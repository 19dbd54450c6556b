#!/usr/bin/env python3
"""Tests the finding about a pool's segment that is kept because of one small part. The predicted savings must agree with the peak of
the same program without this problem. Also tests the tables of the pool's memory in each step, and of the owners.
   usage: pools_test.py BUILD SCRATCH LLVM
"""
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chromium import NAMES, Chromium  # noqa: E402
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, line_of, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs" / "pools.c"
MIB = 1 << 20


def rows(report, name):
    found = [section["rows"] for section in report.json["sections"] if section["name"] == name]
    check(len(found) == 1, f"{len(found)} sections {name}")
    return found[0]


def fragmentation(report):
    return [finding for finding in report.json["findings"] if finding["kind"] == "fragmentation"]


def expect_map(msleaks, folder, page, segments):
    """The page of the report draws the same segments."""
    made = run([msleaks.bin / "msleaks", "report", folder, "--html", page])
    if "npm" in made.stderr or not any(map(shutil.which, NAMES)):
        print("the page is not tested: npm or a browser is missing")
        return
    with Chromium() as browser:
        browser.open(page, fragment="#pools", width=400)
        equal("errors of the page", browser.errors(), [])
        shown = browser.evaluate("(({used, free}) => [Number(used), Number(free)])(document.querySelector('[data-used]').dataset)")
        equal("used and free bytes of the page", shown, [sum(segments), sum(free for _, free, *_ in segments.values())])
        titles = browser.evaluate("[...document.querySelectorAll('svg title')].map(title => title.textContent)")
        kept = [title for title in titles if f"/pools.c:{line_of(PROGRAM, 'kept = poolGet')}:" in title]
        check(kept and all(" used, " in title for title in kept), f"the kept part: {titles}")
        equal("width", browser.evaluate("document.documentElement.scrollWidth"), 400)


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build, llvm)
    program = f"{scratch}/pools"
    msleaks.compile(PROGRAM, program, f"-I{REPOSITORY / 'runtime' / 'include'}", flags=("-O0",))
    _, pinned = msleaks.run(f"{scratch}/pinned", [program, "pinned"])
    _, free = msleaks.run(f"{scratch}/free", [program])

    findings = fragmentation(pinned)
    equal("number of findings", len(findings), 1)
    finding = findings[0]
    equal("saving", finding["saves_bytes"], 31 * MIB)
    equal("heap", finding["heap"], "host")
    evidence = finding["evidence"]
    equal("in use", (evidence["segment_bytes"], evidence["used_at_peak_bytes"], evidence["parts_at_peak"]), (32 * MIB, MIB, 1))
    equal("largest hole", evidence["largest_hole_bytes"], 24 * MIB)
    check(evidence["pinned_by"].endswith(f"pools.c:{line_of(PROGRAM, 'kept = poolGet')}"), f"pinned by {evidence['pinned_by']}")
    equal("findings of the other way", fragmentation(free), [])
    # The program without the problem keeps the part in the first segment, and frees the second segment. So the part needs no memory of
    # its own, and the savings are 1 MiB higher than the finding predicts.
    equal("saved", pinned.heap_peak_bytes("host") - free.heap_peak_bytes("host"), finding["saves_bytes"] + MIB)

    segments = {row[2]: (row[1], row[3], row[4], row[5]["line"]) for row in rows(pinned, "segments")}
    equal("segments", segments, {20 * MIB: (32 * MIB, 12 * MIB, 12 * MIB, line_of(PROGRAM, "char *weights = poolGet")),
                                 MIB: (32 * MIB, 31 * MIB, 24 * MIB, line_of(PROGRAM, "kept = poolGet"))})
    expect_map(msleaks, f"{scratch}/pinned", f"{scratch}/page.html", segments)
    pool = [row[2:5] for row in rows(pinned, "fluctuation") if row[1] == "pool"]
    equal("steps of the pool", pool, [[2, 20 * MIB, 52 * MIB]])
    owners = {row[0]: row[1:4] for row in rows(pinned, "owners")}
    for owner, wanted in {"net": [127 * MIB, 0, 127 * MIB], "net@weights": [63 * MIB, 0, 64 * MIB], "net@activations": [0, 0, 32 * MIB],
                          "net@result": [64 * MIB, 0, 64 * MIB], "net@result@table": [64 * MIB, 0, 64 * MIB]}.items():
        equal(f"owner {owner}", owners[owner], wanted)
    steps = {row[1]: row[2] for row in rows(pinned, "owner_steps") if row[0] == "net"}
    equal("owner in steps", steps, {number: 64 * MIB for number in range(1, 5)})
    print("a pinned segment is found, and saves what it says")


main()
