#!/usr/bin/env python3
"""Runs PyTorch on a real GPU under msleaks-run, several times with each of PyTorch's allocators. The peak of PyTorch's device memory
must be at least the memory that PyTorch reserves, and at most a tenth and 64 MiB larger. With cudaMallocAsync, it is compared with
the memory that PyTorch allocates. With the other allocators, the peak of the tensors must be what PyTorch says. The test prints the time of a step with all options and under Nsight Systems, relative to a step
without msleaks. It fails if msleaks makes a step more than 1.02 times as long.
   usage: pytorch_cuda_test.py BUILD SCRATCH PYTHON (scripts/check-cuda.sh)
"""
import json
import os
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "programs/train_cuda.py"
STEPS, ROUNDS, GOAL = 300, int(os.environ.get("ROUNDS", 5)), 1.02
WAYS = {"caching allocator": ("", "steps"), "expandable segments": ("expandable_segments:True", "steps"),
        "cudaMallocAsync": ("backend:cudaMallocAsync", "steps"), "CUDA graph": ("", "graph")}
EVERYTHING = ["--call-stack", "all"]  # adds call stacks; the ledger, handles and NVTX are recorded by default


def said_by(done):
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def sites_of_libraries(report, names):
    """Returns the sites of the report at which a library with one of these names calls an allocator."""
    paths = [path["frames"] for place in report.sites("peak") for path in place["paths"]]
    return {frames[0].get("id") for frames in paths if frames and Path(frames[0]["library"] or "").name.startswith(names)}


def device_peak(msleaks, folder, report):
    """Returns the peak of the device memory that PyTorch asked for. cuBLAS asks for its own work space, past PyTorch."""
    others = sites_of_libraries(report, "libcublas")
    alive, peak = {}, 0
    for event in map(json.loads, msleaks.output("dump", folder, "--json", "--kind", "alloc,free").splitlines()):
        if event["heap"] != "device":
            continue
        if event["event"] == "Free":
            alive.pop(event["address"], None)
        elif event["site"] not in others:
            alive[event["address"]] = event["size"]
            peak = max(peak, sum(alive.values()))
    return peak


def under_nsys(scratch, command, environment):
    """Returns the time of a step while Nsight Systems traces memory, or None if Nsight Systems is not installed."""
    nsys = shutil.which("nsys")
    if nsys is None:
        return None
    options = ["--trace=cuda,nvtx", "--cuda-memory-usage=true", "--force-overwrite=true", "--output", f"{scratch}/nsys"]
    return said_by(run([nsys, "profile", *options, *command], env=environment))["step_ms"]


def expect_memory(msleaks, way, alone, watched, folder, report):
    """Checks that the report's peak of device memory agrees with PyTorch. Returns the bytes according to PyTorch, the report and
    the driver."""
    # With cudaMallocAsync the driver manages the pool. So the report counts the tensors that PyTorch allocated, not a reserved pool.
    # How much the driver reserves depends on when it frees.
    measure = "allocated" if "Async" in way else "reserved"
    equal(f"{way}: {measure}", watched[measure], alone[measure])
    report.expect_account()
    peak = device_peak(msleaks, folder, report)
    wanted = watched[measure]
    check(wanted <= peak <= wanted * 1.1 + (64 << 20), f"{way}: {peak} of the device, PyTorch says {wanted}")
    if "Async" not in way:
        equal(f"{way}: peak of the tensors", report.heap_peak_bytes("pool"), watched["allocated"])
    return wanted, peak, sum(line["at_peak_bytes"] for line in report.json["ledger"] if line["source"] == "driver")


def expect_everything(msleaks, way, folder, watched, report):
    ranges = msleaks.output("dump", folder, "--json", "--kind", "range-begin").splitlines()
    equal(f"{way}: ranges of NVTX", len(ranges), watched["ranges"])
    check(isinstance(report.json["handles"], list) and isinstance(report.json["ledger"], list), f"{way}: neither handles nor a ledger")


def main():
    build, scratch, python = arguments("build", "scratch", "python")
    os.makedirs(scratch, exist_ok=True)
    msleaks, missed = Msleaks(build), []
    print("| PyTorch | reserved, MiB | report's device heap, MiB | driver beside it, MiB | a step, with / without | under nsys / without |\n|---|---|---|---|---|---|")
    for way, (allocator, how) in WAYS.items():
        environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=allocator)
        command = [python, "-B", PROGRAM, str(STEPS), how]
        ratios, others = [], []
        for _ in range(ROUNDS):
            alone = said_by(run(command, env=environment))
            done, report = msleaks.run(f"{scratch}/run", command, EVERYTHING, env=environment)
            watched = said_by(done)
            ratios.append(watched["step_ms"] / alone["step_ms"])
            other = under_nsys(scratch, command, environment)
            others += [] if other is None else [other / alone["step_ms"]]
        wanted, peak, driver = expect_memory(msleaks, way, alone, watched, f"{scratch}/run", report)
        expect_everything(msleaks, way, f"{scratch}/run", watched, report)
        ratio, nsys = statistics.median(ratios), f"{statistics.median(others):.3f}" if others else "-"
        missed += [f"{way}: {ratio:.3f}"] if ratio > GOAL else []
        print(f"| {watched['torch']}, {way} | {wanted / 2**20:.1f} | {peak / 2**20:.1f} | {driver / 2**20:.1f} | {ratio:.3f} | {nsys} |", flush=True)
    print(f"on {watched['device']}, median of {ROUNDS}")
    if not others:
        print("skipped: nsys, which is not at hand")
    check(not missed, f"a step shall take at most {GOAL} of what it takes without: {', '.join(missed)}")


if __name__ == "__main__":
    main()
