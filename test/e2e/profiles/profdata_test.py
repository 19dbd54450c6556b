#!/usr/bin/env python3
"""Compares `msleaks profile` with llvm-profdata on the same .profdata file of one LLVM version. Each counter must be equal.

    profdata_test.py BUILD SCRATCH LLVM
"""
import json
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import arguments, check, equal, need, run  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "programs/branches.cpp"
WAYS = {"front-end": ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"], "ir": ["-fprofile-generate"]}


def made(words, **kwargs):
    done = run(words, **kwargs)
    check(done.returncode == 0, f"{words}: {done.stderr}")
    return done.stdout


def truth(profdata, file):
    """Returns {function: its counters}, as llvm-profdata prints them."""
    functions, name, first = {}, None, None
    for line in made([profdata, "show", "--all-functions", "--counts", file]).splitlines():
        if found := re.match(r"  (\S.*):$", line):
            name, first = found[1], None
        elif found := re.match(r"    Function count: (\d+)", line):
            first = int(found[1])
        elif found := re.match(r"    Block counts: \[(.*)\]", line):
            rest = [int(word) for word in found[1].split(", ") if word]
            functions[name] = rest if first is None else [first, *rest]
    return functions


def compare(msleaks, profdata, file, has_calls):
    functions = truth(profdata, file)
    profile = lambda *words: json.loads(made([msleaks, "profile", *words]))  # noqa: E731
    counters = profile("counters", file)
    equal("counts", counters["counts"], sum(sum(counts) for counts in functions.values()))
    equal("whether calls are known", "calls" in counters, has_calls)
    code = profile("code", file)
    equal("functions", sorted(code), sorted(functions))
    for name, (share, lines) in {name: (info["counters"]["counts"], code[name]) for name, info in profile("functions", file).items()}.items():
        found = [round(counters["counts"] * share / 100 * line[0]["counts"] / 100) for line in lines]
        equal(f"counters of {name}", found, functions[name])
    if has_calls:
        equal("calls", counters["calls"], sum(counts[0] for counts in functions.values()))
    return functions


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    clang, profdata = need(f"clang++-{llvm}"), need(f"llvm-profdata-{llvm}")
    msleaks = Path(build) / "bin" / "msleaks"
    folder = Path(scratch)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, flags in WAYS.items():
        program, raw, merged = folder / name, folder / f"{name}.profraw", folder / f"{name}.profdata"
        made([clang, "-std=c++20", "-O1", *flags, SOURCE, "-o", program])
        made([program], env={**os.environ, "LLVM_PROFILE_FILE": str(raw)})
        made([profdata, "merge", raw, "-o", merged])
        functions = compare(msleaks, profdata, merged, has_calls=name == "front-end")
        check(len(functions) >= 2, f"llvm-profdata shows {functions}")
        refused = run([msleaks, "profile", "functions", raw])
        equal("a raw profile", (refused.returncode, "llvm-profdata merge" in refused.stderr), (3, True))
        stored = folder / f"{name}.lntprof"
        made([msleaks, "profile", "upgrade", merged, stored])
        equal("after a round trip", json.loads(made([msleaks, "profile", "counters", stored])),
              json.loads(made([msleaks, "profile", "counters", merged])))


if __name__ == "__main__":
    main()
