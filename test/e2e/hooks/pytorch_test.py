#!/usr/bin/env python3
"""Tests the owners of PyTorch's tensors with a stand-in for libtorch: operators that call paths show, and scopes that an observer
reports (hooks/frameworks/pytorch.cpp). The scopes end in other threads, do not nest, throw, or have odd names. Each tensor must belong to the
innermost scope or the outermost operator that allocated it, and afterwards the thread must have no owner. Hooks of functions with
PyTorch's calling conventions must pass on all arguments and the result.

    pytorch_test.py BUILD SCRATCH
"""
import collections
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, equal, expect_same, need, run  # noqa: E402

STANDIN = REPOSITORY / "test/standins/pytorch"
PROGRAM, NODES, FLOAT64 = (Path(__file__).resolve().parent / f"programs/pytorch_{name}.cpp" for name in ("operators", "nodes", "tensors"))
UNIT = 1 << 16  # bytes of a tensor that has an owner
OPERATOR, BACKWARD, OPTIMIZER = "pytorch@operator@", "pytorch@backward@", "pytorch@optimizer@"

# The number of tensors that each owner has at the end of the program.
TENSORS = {
    OPTIMIZER + "outer": 1,
    OPTIMIZER + "inner": 2,
    OPTIMIZER + "first": 1,
    OPTIMIZER + "after crossing": 1,
    OPTIMIZER + "late": 1,
    OPTIMIZER + "after late": 1,
    OPTIMIZER + "of B": 2,
    OPTIMIZER + "of A": 1,
    OPTIMIZER + "failing": 40,
    OPTIMIZER + "after failing": 1,
    OPTIMIZER + "after deep": 1,
    OPTIMIZER + "Adam.step": 1,
    OPERATOR + "aten::linear": 2,
    OPERATOR + "aten::add": 1,
    OPERATOR + "aten::add_": 1,
    OPTIMIZER + "Own.step": 1,
    BACKWARD + "AddmmBackward0": 1,
    BACKWARD + "AccumulateGrad": 1,
    BACKWARD + "aten::linear": 1,
}
STEPS = [*range(1, 40 + 1 + 1 + 1 + 1), 100]  # the program reports the last one itself


def build(scratch):
    scratch.mkdir(parents=True, exist_ok=True)
    library = scratch / "libtorch_cpu.so"
    programs = {PROGRAM: scratch / "operators", NODES: scratch / "nodes", FLOAT64: scratch / "tensors"}
    parts = [STANDIN / f"{part}.cpp" for part in ("record_function", "operators", "empty_tensors")]
    compiler = [need("g++"), "-std=c++20", "-O2", f"-I{STANDIN}", f"-I{REPOSITORY}/runtime/include"]
    for command in ([*compiler, "-shared", "-fPIC", *parts, "-o", library],
                    *([*compiler, source, library, f"-Wl,-rpath,{scratch}", "-o", made] for source, made in programs.items())):
        check(subprocess.run(command).returncode == 0, f"{command[-3]} does not compile")
    return programs.values()


def expect_nodes(msleaks, folder, program):
    """Each thread must record the nodes that it evaluates, in the order that the program prints."""
    done, _ = msleaks.run(folder, [program])
    equal(f"exit status of the nodes ({done.stderr})", done.returncode, 0)
    values = {}
    for line in msleaks.output("dump", folder, "--json", "--kind", "counter").splitlines():
        event = json.loads(line)
        values.setdefault(event["stream"], []).append(event["value"])
    equal("nodes", [values[stream] for stream in sorted(values)], [list(map(int, line.split())) for line in done.stdout.splitlines()])


def expect_float64(msleaks, folder, program):
    """The hooks must announce each large tensor of float64. The program must work as without hooks."""
    done, _ = msleaks.run(folder, [program])
    expect_same(run([program]), done)
    equal("exit status of the tensors", done.returncode, 0)
    found = [json.loads(line)["value"] for line in msleaks.output("dump", folder, "--json", "--kind", "counter").splitlines()]
    equal("tensors of float64", found, list(map(int, done.stdout.splitlines()[-1].split())))
    print(f"{len(found)} tensors of float64")


def main():
    prefix, scratch = arguments("build", "scratch")
    program, nodes, float64 = build(Path(scratch))
    msleaks = Msleaks(prefix)
    expect_nodes(msleaks, f"{scratch}/nodes-run", nodes)
    expect_float64(msleaks, f"{scratch}/float64-run", float64)
    done, report = msleaks.run(f"{scratch}/run", [program])
    equal(f"exit status ({done.stderr})", done.returncode, 0)
    equal("output", done.stdout, "errno 4711\n")
    report.expect_account()

    rows = {row[0]: row[2] for section in report.json["sections"] if section["name"] == "owners" for row in section["rows"]}
    tensors = {owner: size // UNIT for owner, size in rows.items() if owner and owner.count("@") == 2}
    found = {owner: count for owner, count in tensors.items() if owner in TENSORS}
    equal("tensors of each owner", found, TENSORS)
    long = [owner for owner in tensors if owner.startswith(OPTIMIZER + "xxx")]
    check(len(long) == 1 and tensors[long[0]] == 1, f"the scope with a long name: {long}")
    check(sum(count for owner, count in tensors.items() if owner not in TENSORS and owner not in long) <= 1, f"others have tensors: {tensors}")

    Path(scratch, "libtorch_cpu.so").write_bytes(b"another library")
    later = json.loads(msleaks.output("report", f"{scratch}/run", "--json"))
    owners = [section["rows"] for section in later["sections"] if section["name"] == "owners"]
    equal("owners without the library", owners, [section["rows"] for section in report.json["sections"] if section["name"] == "owners"])
    check(not any("libtorch" in note for note in later["notes"]), f"notes: {later['notes']}")

    kinds = "step,range-begin,range-end,owner-push,owner-pop"
    dumped = msleaks.output("dump", f"{scratch}/run", "--json", "--kind", kinds)
    events = collections.Counter(json.loads(line)["event"] for line in dumped.splitlines())
    steps = [json.loads(line)["number"] for line in msleaks.output("dump", f"{scratch}/run", "--json", "--kind", "step").splitlines()]
    equal("steps", steps, STEPS)
    equal("ends of owners", events["OwnerPop"], events["OwnerPush"])
    check(events["RangeBegin"] - events["RangeEnd"] in (0, 1), f"ranges that do not end, besides `future`: {events}")
    print(f"{sum(TENSORS.values())} tensors of {len(TENSORS)} owners")


if __name__ == "__main__":
    main()
