#!/usr/bin/env python3
"""Runs examples/opencl_train on the OpenCL driver PoCL. With --plant it makes a deliberate mistake, which the report must find.

    opencl_train_test.py BUILD SCRATCH
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, expect_same, line_of, run, skip  # noqa: E402

SOURCE = REPOSITORY / "examples/opencl_train/train.cpp"
STEPS = 20
BATCH, HIDDEN, WORKSPACE = 256, 256, 4 * 8192 * (256 + 128 + 10)


def device(report, part):
    """Returns the rows of OpenCL's buffers. Leaves out host memory that PoCL allocates for itself."""
    return [row for row in report.sites(part) if row["site"]["callee"] == "clCreateBuffer"]


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    program = f"{scratch}/opencl_train"
    msleaks.compile(SOURCE, program, "-lOpenCL")
    command = [program, "--steps", str(STEPS)]
    plain = run(command)
    if "no OpenCL device" in plain.stderr:
        skip("no OpenCL device; pocl-opencl-icd brings one")
    check(plain.returncode == 0 and "accuracy" in plain.stdout, f"the example does not run: {plain.stderr}")

    def watched(name, *plant):
        done, report = msleaks.run(f"{scratch}/{name}", command + list(plant))
        expect_same(plain, done)
        report.expect_account()
        report.expect_sums()
        return report

    clean = watched("clean")
    check(not device(clean, "leaks"), f"leaks that nobody planted: {device(clean, 'leaks')}")
    check(all(finding["confidence"] != "proved" for finding in clean.json["findings"]), f"proved, and nobody planted it: {clean.json['findings']}")
    workspace = line_of(SOURCE, "workspace = clCreateBuffer", 1)
    clean.expect_site("peak", "train.cpp", line=workspace, variable="workspace", count=1, bytes=WORKSPACE)
    clean.expect_site("peak", "train.cpp", line=line_of(SOURCE, "weights = clCreateBuffer"), count=3)
    clean.expect_site("peak", "train.cpp", line=line_of(SOURCE, "inputs_ = clCreateBuffer"), count=1, bytes=4 * 8192 * 64)

    leak = watched("leak", "--plant", "leak")
    line = line_of(SOURCE, "delta_below = clCreateBuffer")
    leak.expect_site("leaks", "train.cpp", line=line, count=STEPS, bytes=STEPS * 4 * BATCH * HIDDEN)
    check(len(device(leak, "leaks")) == 1, f"more leaks than planted: {device(leak, 'leaks')}")
    first = leak.json["findings"][0]
    check((first["kind"], first["site"]["line"], first["saves_bytes"]) == ("leak", line, STEPS * 4 * BATCH * HIDDEN),
          f"the first finding is not what was planted: {first}")
    keepers = [(Path(finding["closed_library"]).name, finding["heap"]) for finding in leak.json["findings"]
               if finding["closed_library"] and finding["kind"] == "leak"]
    check(len(keepers) == len(set(keepers)) and any(name.startswith("libpocl.so") for name, _ in keepers), f"not one leak a library: {keepers}")

    # The raw samples and the workspace are never needed at the same time. With the mistake "early" or "late", both are alive at the peak.
    early = watched("early", "--plant", "early")
    early.expect_site("peak", "train.cpp", line=line_of(SOURCE, "workspace = clCreateBuffer"), count=1, bytes=WORKSPACE)
    check(not device(early, "leaks"), f"an early allocation is no leak: {device(early, 'leaks')}")
    late = watched("late", "--plant", "late")
    late.expect_site("peak", "train.cpp", line=line_of(SOURCE, "raw_ = clCreateBuffer"), count=1, bytes=4 * 8192 * 64)
    check(not device(late, "leaks"), f"a late release is no leak: {device(late, 'leaks')}")
    for name, report in ("early", early), ("late", late):
        more = report.heap_peak_bytes("device") - clean.heap_peak_bytes("device")
        check(more > 1_900_000, f"{name}: the device's peak is only {more} bytes higher")

    # The first finding must be the deliberate mistake. Its predicted savings must equal the difference to the peak of a run without
    # the mistake, within 1 % of the peak.
    for name, report, kind, text, nth in (("early", early, "early-allocation", "workspace = clCreateBuffer", 0),
                                          ("late", late, "late-free", "raw_ = clCreateBuffer", 0)):
        first, peak = report.json["findings"][0], report.heap_peak_bytes("device")
        check((first["kind"], first["site"]["line"]) == (kind, line_of(SOURCE, text, nth)), f"{name}: the first finding is {first}")
        without = peak - clean.heap_peak_bytes("device")
        check(abs(first["saves_bytes"] - without) <= peak / 100, f"{name}: saves {first['saves_bytes']}, measured {without}")
    # `msleaks whatif` must compute the device's peak without the mistake "early" or "late", within 1 % of the peak.
    for name, plant, option, site in (("early", early, "--alloc-at-first-use", "workspace"), ("late", late, "--free-at-last-use", "train.cpp:%d" % line_of(SOURCE, "raw_ = clCreateBuffer")),
                                      ("leak", leak, "--drop", "delta_below"), ("late", late, "--share", "raw_,workspace")):
        told = json.loads(msleaks.output("whatif", f"{scratch}/{name}", "--heap", "device", option, site, "--json"))
        peak = plant.heap_peak_bytes("device")
        check(told["peak_bytes"] == peak and told["floor_bytes"] <= told["new_peak_bytes"], f"{name}: {told}")
        wanted = clean.heap_peak_bytes("device")
        check(name == "leak" or abs(told["new_peak_bytes"] - wanted) <= peak / 100, f"{name} {option}: {told['new_peak_bytes']}, measured {wanted}")
        check(max(point["new_bytes"] for point in told["curve"]) == told["new_peak_bytes"], f"{name}: the curve is another one")
    for name, report in ("clean", clean), ("leak", leak), ("early", early), ("late", late):
        check(report.json["floor"]["heaps"] == ["device"] and report.json["floor"]["bytes"] <= report.json["peak"]["bytes"],
              f"{name}: floor {report.json['floor']}")
    check(not [finding for finding in clean.json["findings"] if finding["heap"] == "device"], f"nothing was planted: {clean.json['findings']}")
    print("clean, leak, early, late: as planted")


if __name__ == "__main__":
    main()
