#!/usr/bin/env python3
"""Tests counted OpenCL kernels on the driver PoCL. The program prints the same as without msleaks. If all work-groups count, the counts
equal the expected numbers. If only a sample of them counts, msleaks scales their counts up.

    opencl_test.py BUILD SCRATCH LLVM
"""
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import spirv  # noqa: E402
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, need, run, skip  # noqa: E402

HERE = Path(__file__).resolve().parent
SIZE, GROUP, LAUNCHES = 1000, 64, 5
THREADS = (SIZE + GROUP - 1) // GROUP * GROUP
GROUPS = THREADS // GROUP
KERNELS = ("saxpy", "sum", "choose", "collatz", "rounds")
ROUNDS = 10


def start():
    """Reads the arguments of a test on PoCL. Returns the tools of msleaks and a folder. Skips the test if there is no SPIR-V translator."""
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    os.makedirs(scratch, exist_ok=True)
    if spirv.translator() is None:
        skip("no llvm-spirv, which translates SPIR-V for PoCL")
    return Msleaks(build, llvm), scratch


def run_alone(command):
    """Returns the program's output without msleaks. Skips the test if there is no OpenCL device."""
    alone = run(command)
    if "no OpenCL device" in alone.stderr:
        skip("no OpenCL device; pocl-opencl-icd brings one")
    check((alone.returncode, alone.stderr) == (0, ""), f"{command}: alone: {alone.returncode} {alone.stderr}")
    return alone


def compile_host(source, output, *options):
    done = run([need("g++"), "-std=c++20", "-O1", f"-I{REPOSITORY}/runtime/include", source, "-o", output, *options, "-lOpenCL"])
    check(done.returncode == 0, f"{source} does not compile: {done.stderr}")
    return output


def write_spirv(bitcode, spv):
    done = run([need("llc-22"), "-O1", "-filetype=obj", bitcode, "-o", spv])
    check(done.returncode == 0, f"{bitcode} has no SPIR-V: {done.stderr}")


def compile_kernels(msleaks, source, scratch, name, passes=""):
    """Compiles kernels by msleaks-clang to SPIR-V, and converts the SPIR-V to bitcode that PoCL accepts. For an LLVM before 22, the
    SPIR-V back end of LLVM 22 translates the counted code."""
    spv, bitcode = f"{scratch}/{name}.spv", f"{scratch}/{name}.bc"
    environment = {**os.environ, "MSLEAKS_PASS": passes, "MSLEAKS_LLVM": msleaks.llvm}
    command = [msleaks.bin / "msleaks-clang", "-x", "cl", "-cl-std=CL1.2", "-O1", source]
    has_back_end = int(msleaks.llvm) >= 22
    done = run([*command, *([] if has_back_end else ["-emit-llvm", "-c"]), "-o", spv if has_back_end else f"{spv}.in.bc"], env=environment)
    check(done.returncode == 0, f"{source} does not compile: {done.stderr}")
    if not has_back_end:
        write_spirv(f"{spv}.in.bc", spv)
    if shutil.which("spirv-val"):
        check(subprocess.run(["spirv-val", spv]).returncode == 0, f"{spv} is not valid")
    check(spirv.to_bitcode(msleaks.bin, spv, bitcode), f"{spv} cannot be translated")
    return bitcode


class Run:
    """Runs the host program once under msleaks-run. The object returns a graph by name: run["saxpy"]."""

    def __init__(self, msleaks, scratch, host, module, alone, *options, launches=LAUNCHES, build_options=spirv.BUILD_OPTIONS):
        self.folder = f"{scratch}/run"
        shutil.rmtree(self.folder, ignore_errors=True)
        done = run([msleaks.bin / "msleaks-run", *options, "-o", self.folder, "--", host, module, build_options,
                    str(launches)])
        check((done.returncode, done.stdout) == (0, alone),
              f"{options}: the program prints {done.stdout!r} {done.stderr!r}, alone {alone!r}")
        cfg = run([msleaks.bin / "msleaks", "cfg", self.folder, "--json"])
        self.status, self.error = cfg.returncode, cfg.stderr
        self.graphs = {graph["function"]: graph for graph in json.loads(cfg.stdout)} if cfg.returncode == 0 else {}

    def __getitem__(self, name):
        return self.graphs[name]


def expect_flow(graph):
    """Checks that each block's count equals the sum of the counts of its incoming edges. For the entry block, the
    number of calls is added to this sum. All calls must return."""
    into, out = Counter(), Counter()
    for edge in graph["edges"]:
        into[edge["to"]] += edge["count"]
        out[edge["from"]] += edge["count"]
    left = 0
    for block in graph["blocks"]:
        number, count = block["id"], block["count"]
        check(into[number] + (graph["calls"] if number == 1 else 0) == count, f"{graph['function']}: into {number}")
        check(out[number] <= count, f"{graph['function']}: out of {number}")
        left += count - out[number]
    check(left == graph["calls"], f"{graph['function']}: {graph['calls']} came, {left} left")


def edge_counts(graph):
    return {edge["name"]: edge["count"] for edge in graph["edges"]}


def count_at(graph, line):
    """Returns how often each block of this line ran."""
    return [block["count"] for block in graph["blocks"] if block["line"] == line]


def line_of(text):
    lines = (HERE / "kernels.cl").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def collatz_steps(value):
    steps = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


def expect_hand_count(done):
    for name in KERNELS:
        graph = done[name]
        check(graph["calls"] == THREADS * LAUNCHES, f"{name}: {graph['calls']} calls")
        check((graph["mode"], graph["scale"]) == ("full", 1), f"{name}: {graph['mode']} {graph['scale']}")
        launches = graph["launches"]
        check(sum(row["launches"] for row in launches) == LAUNCHES, f"{name}: {launches}")
        check(all(row["launches"] == row["counted"] for row in launches), f"{name}: {launches}")
    check(done["saxpy"]["launches"][0]["grid"] == [GROUPS, 1, 1], done["saxpy"]["launches"])
    check(done["saxpy"]["launches"][0]["block"] == [GROUP, 1, 1], done["saxpy"]["launches"])
    check(done["choose"]["launches"][0]["block"] == [0, 1, 1], done["choose"]["launches"])  # 0: the device chooses this size
    for graph in done.graphs.values():
        expect_flow(graph)
        check(all(edge["state"] in ("measured", "derived") for edge in graph["edges"]), graph["function"])

    check(count_at(done["saxpy"], line_of("y[i] += a * x[i]")) == [SIZE * LAUNCHES], "saxpy: its body")
    # In a work-group, 32 + 16 + … + 1 = 63 threads add. One thread writes the result.
    check(count_at(done["sum"], line_of("part[me] += part[me + k]")) == [63 * GROUPS * LAUNCHES], "sum: additions")
    check(count_at(done["sum"], line_of("out[get_group_id(0)]")) == [GROUPS * LAUNCHES], "sum: results")

    cases = Counter((i + k) % 6 for i in range(SIZE) for k in range(i % 7))
    counted = Counter()
    for edge in done["choose"]["edges"]:
        if edge["kind"] == "switch":
            counted[edge["value"]] += edge["count"]
    for value in (0, 1, 2, 4):
        check(counted[value] == cases[value] * LAUNCHES, f"choose: case {value}: {counted[value]}")
    default = [edge["count"] for edge in done["choose"]["edges"] if edge["kind"] == "default"]
    check(default == [(cases[3] + cases[5]) * LAUNCHES], f"choose: default: {default}")

    check(max(block["count"] for block in done["rounds"]["blocks"]) == ROUNDS * THREADS * LAUNCHES, "rounds: in the loop")
    steps = sum(collatz_steps(i + 1) for i in range(THREADS)) * LAUNCHES
    check(max(block["count"] for block in done["steps"]["blocks"]) == steps, f"collatz: {steps} steps")
    check(done["steps"]["calls"] == THREADS * LAUNCHES, "collatz: calls of steps")


def expect_arguments(msleaks, done):
    """Checks the possible uses of each kernel's buffers, and the access events of its launches."""
    expected = {"saxpy": [(0, True, True), (1, True, False)], "sum": [(0, True, False), (1, False, True)],
                "choose": [(0, True, True)], "collatz": [(0, False, True)], "rounds": [(0, True, True)]}
    for name, rows in expected.items():
        graph = done[name]
        told = [(row["number"], row["reads"], row["writes"]) for row in graph["arguments"]]
        check((told, graph["uses_other_memory"]) == (rows, False), f"{name}: {graph['arguments']}")
    events = [json.loads(line) for line in msleaks.output("dump", done.folder, "--json", "--kind", "launch,access").splitlines()]
    accesses = Counter(tuple(sorted(set(event["flags"]) & {"read", "write"})) for event in events
                       if event["event"] == "Access" and "listed" in event["flags"])
    wanted = Counter()
    for rows in expected.values():
        for _, reads, writes in rows:
            wanted[("read",) * reads + ("write",) * writes] += LAUNCHES
    check(accesses == wanted, f"{accesses}, not {wanted}")
    check(all("listed" in event["flags"] for event in events), "a launch or an argument is not known")


def expect_sampled(done, mode, sampled, counted=LAUNCHES):
    """Checks the scaled counts of saxpy. `sampled` is the number of threads that count in one launch."""
    graph = done["saxpy"]
    check(graph["mode"] == mode, f"{mode}: {graph['mode']}")
    check(graph["sampled_threads"] == sampled * counted, f"{mode}: {graph['sampled_threads']} threads sampled")
    check(graph["threads"] == THREADS * LAUNCHES and graph["calls"] == THREADS * LAUNCHES, f"{mode}: {graph['calls']}")
    check(abs(graph["scale"] - THREADS * LAUNCHES / (sampled * counted)) < 1e-9, f"{mode}: scale {graph['scale']}")
    for edge in graph["edges"]:
        check(edge["state"] in ("estimated", "unseen"), f"{mode}: {edge}")
        check((edge["count"] is None) == (edge["state"] == "unseen") and edge["count"] != 0, f"{mode}: {edge}")


def expect_errors(sampled, exact):
    """Checks the error estimates. In a sample of several work-groups, each count has an estimated error. The true count differs from
    the count by at most five times this error plus 1. An exact count has the error 0."""
    for name in "collatz", "steps":
        for edge, truth in zip(sampled[name]["edges"], exact[name]["edges"]):
            check(edge["count"] is None or edge["error"] is not None, f"{name}: {edge} has no error")
            check(edge["count"] is None or abs(edge["count"] - truth["count"]) <= 5 * edge["error"] + 1, f"{name}: {edge}, in truth {truth['count']}")
    check(all(edge["error"] == 0 for edge in exact["collatz"]["edges"]), "an exact count has an error")


def expect_rounds(done, mode, exact):
    """All threads take the same path through this kernel. So the scaled count of an edge equals the full count. An edge that no thread
    takes has no count."""
    for edge, truth in zip(done["rounds"]["edges"], exact["rounds"]["edges"]):
        wanted = (truth["count"], "estimated") if truth["count"] else (None, "unseen")
        check((edge["count"], edge["state"]) == wanted, f"{mode}: rounds: {edge}, in truth {truth['count']}")


def expect_callee(done, mode):
    """Checks that the counts of a called function have the scale of the calling kernel. Other kernels have other scales."""
    check(done["steps"]["scale"] == done["collatz"]["scale"], f"{mode}: steps is scaled by {done['steps']['scale']}")
    check(done["steps"]["calls"] == THREADS * LAUNCHES, f"{mode}: {done['steps']['calls']} calls of steps")


def strata():
    """Returns the number of threads that count in the mode `strata`. Selects the same work-groups as abi::counts."""
    def is_in(block):
        hashed = (block * 0x9e3779b97f4a7c15 & (1 << 64) - 1) >> 40 & 63
        return block in (0, GROUPS // 2, GROUPS - 1) or hashed == 0
    return sum(GROUP for block in range(GROUPS) if is_in(block))


def main():
    msleaks, scratch = start()
    host = compile_host(HERE / "kernels_host.cpp", f"{scratch}/host")
    source = HERE / "kernels.cl"
    plain = compile_kernels(msleaks, source, scratch, "plain", passes="off")
    few = compile_kernels(msleaks, source, scratch, "few")
    every = compile_kernels(msleaks, source, scratch, "every", passes="counters=all")

    alone = run_alone([host, plain, spirv.BUILD_OPTIONS, str(LAUNCHES)])
    inert = run([host, few, spirv.BUILD_OPTIONS, str(LAUNCHES)])
    check(inert.stdout.splitlines()[1:] == alone.stdout.splitlines()[1:], f"not under msleaks-run: {inert.stdout}")

    def counted(bitcode, *options):
        return Run(msleaks, scratch, host, bitcode, alone.stdout, *options)

    done = counted(few)
    expect_hand_count(done)
    expect_arguments(msleaks, done)
    expect_hand_count(counted(compile_kernels(msleaks, source, scratch, "calls", passes="counters=calls")))
    all_edges = counted(every)
    expect_hand_count(all_edges)
    for name, graph in done.graphs.items():
        check(edge_counts(graph) == edge_counts(all_edges[name]), f"{name}: few counters say other than all")
        is_derived = any(edge["state"] == "derived" for edge in graph["edges"])
        check(is_derived or not graph["edges"], f"{name}: nothing is derived")
        check(all(edge["state"] == "measured" for edge in all_edges[name]["edges"]), f"{name}: not all are measured")

    centre = counted(few, "--cfg-mode", "cta")
    expect_sampled(centre, "cta", GROUP)
    expect_callee(centre, "cta")
    blocks = counted(few, "--cfg-mode", "strata")
    expect_sampled(blocks, "strata", strata())
    expect_errors(blocks, done)
    check(all(edge["error"] is None for edge in centre["collatz"]["edges"]), "one block says something of its error")
    every_other = counted(few, "--cfg-mode", "strata", "--cfg-launches", "every:2")
    check(all(edge["error"] is None for edge in every_other["collatz"]["edges"]), "launches that were left out are no error")
    one_wave = counted(few, "--cfg-mode", "wavefront")
    wave = one_wave["saxpy"]["sampled_threads"] // LAUNCHES
    check(wave in (1, 2, 4, 8, 16, 32, 64), f"wavefront: {wave} threads")
    expect_sampled(one_wave, "wavefront", wave)
    for mode, sampled in ("cta", centre), ("strata", blocks), ("wavefront", one_wave):
        expect_rounds(sampled, mode, done)
    check([edge["state"] for edge in centre["saxpy"]["edges"]].count("unseen") == 1, "cta: all threads of the centre are in range")

    expect_sampled(counted(few, "--cfg-launches", "every:2"), "full", THREADS, counted=3)
    expect_sampled(counted(few, "--cfg-launches", "first:2"), "full", THREADS, counted=2)
    expect_sampled(counted(few, "--cfg-launches", "budget:40"), "full", THREADS, counted=2)
    off = counted(few, "--cfg-launches", "off")
    check(off.status == 3 and "no edges were counted" in off.error, f"off: {off.status} {off.error}")

    # Changes the version of the module's table to an unknown one. No launch must be counted, and a note must say why.
    with open(f"{scratch}/few.spv", "rb") as file:
        module = file.read()
    known, other = b"MSG1\x01\x00\x38\x00", b"MSG1\x09\x00\x38\x00"
    check(module.count(known) == 1, "the table's first word is not where it was")
    with open(f"{scratch}/other.spv", "wb") as file:
        file.write(module.replace(known, other))
    check(spirv.to_bitcode(msleaks.bin, f"{scratch}/other.spv", f"{scratch}/other.bc"), "cannot be translated")
    refused = counted(f"{scratch}/other.bc")
    check(refused.status == 3, "counted by a table of another version")
    report = msleaks.output("report", refused.folder, "--section", "notes")
    check("another version" in report, f"the report does not say why nothing was counted:\n{report}")
    print(f"counted {sum(len(graph['edges']) for graph in done.graphs.values())} edges of {len(done.graphs)} functions")


if __name__ == "__main__":
    main()
