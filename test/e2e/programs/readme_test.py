#!/usr/bin/env python3
"""Builds and runs examples/cache as the first example in README.md does. The report must have the two findings that README shows.

    readme_test.py BUILD SCRATCH
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, expect_same, line_of, run  # noqa: E402

SOURCE = REPOSITORY / "examples/cache/cache.cpp"
REQUESTS, SCRATCH_BYTES, ANSWER_BYTES = 1000, 4096, 1008


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    program = f"{scratch}/cache"
    msleaks.compile(SOURCE, program, flags=("-O1",))
    plain = run([program])
    done, report = msleaks.run(f"{scratch}/run", [program])
    expect_same(plain, done)
    report.expect_account()
    found = [(finding["count"], finding["evidence"]["reach"], finding["site"]["line"], finding["site"]["variable"])
             for finding in report.json["findings"] if finding["kind"] == "leak"]
    wanted = [(REQUESTS, "lost", line_of(SOURCE, "new char"), "scratch"), (REQUESTS, "held", line_of(SOURCE, "new Answer"), "answer")]
    equal("findings of leaks", found, wanted)
    equal("bytes", [row["bytes"] for row in report.sites("leaks")[:2]], [REQUESTS * SCRATCH_BYTES, REQUESTS * ANSWER_BYTES])
    holders = report.json["findings"][1]["evidence"]["holders"]
    check("global cache (cache.cpp:13)" in holders[0], f"the cache holds its answers: {holders}")
    section = (REPOSITORY / "README.md").read_text().split("## 60 seconds with C++")[1].split("\n## ")[0]
    shown = re.findall(r"cache\.cpp:(\d+):\d+ in .*\b(\w+) \(", section)
    equal("places that README shows", shown, [(str(line), variable) for _, _, line, variable in wanted])


if __name__ == "__main__":
    main()
