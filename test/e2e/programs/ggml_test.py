#!/usr/bin/env python3
"""Tests msleaks on ggml, a library for machine learning. A small transformer, written for this test, runs 20 times on ggml's CPU
backend. Also checks the counted graphs of ggml's operators.

    ggml_test.py BUILD SCRATCH
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "graphs"))
from graphs_run import expect_flow, graphs_of  # noqa: E402
from msleaks_e2e import Msleaks, arguments, build_workload, check, expect_same, run  # noqa: E402

# Bytes of the weights, which ggml puts into one buffer. The transformer has 1000 words and 4 layers. Each layer has 4 matrices of
# 256 x 256 and 2 of 256 x 1024.
WEIGHTS = 4 * (4 * (4 * 256 * 256 + 2 * 256 * 1024) + 1000 * 256)


def expect_graphs(msleaks, folder, program):
    """Checks that each operator has a graph, and that four operators of the transformer ran."""
    graphs = graphs_of(msleaks, folder)
    symbols = [line.split() for line in run(["nm", "--defined-only", program]).stdout.splitlines()]
    operators = {name for _, kind, name in symbols if kind in "tT" and "lm_ggml_compute_forward_" in name}
    check(len(operators) > 80, f"{len(operators)} operators in {program}")
    check(not operators - graphs.keys(), f"without a graph: {sorted(operators - graphs.keys())}")
    for name in operators:
        expect_flow(graphs[name], "ggml")
    for name in "mul_mat", "get_rows", "soft_max", "rms_norm":
        check(graphs[f"lm_ggml_compute_forward_{name}"]["calls"] > 0, f"{name} did not run")
    print(f"{len(operators)} operators, {len(graphs)} graphs")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    build_workload("ggml", f"{scratch}/ggml", msleaks.plugin, "cfg=lm_ggml_compute_forward_")
    command = [f"{scratch}/ggml/transformer", "20", "2"]

    plain = run(command)
    check(plain.returncode == 0 and "checksum" in plain.stdout, f"the transformer does not run: {plain.stderr}")
    watched, report = msleaks.run(f"{scratch}/run", command)
    expect_same(plain, watched)
    report.expect_account()
    report.expect_sums()
    # ggml allocates through wrapper functions. The report must name the callers of these functions.
    weights = report.expect_site("peak", "ggml-backend.cpp", function="lm_ggml_backend_cpu_buffer_type_alloc_buffer(lm_ggml_backend_buffer_type*, unsigned long)")
    check(weights["bytes"] >= WEIGHTS, f"the weights are {WEIGHTS} bytes: {weights}")
    check(weights["allocator"]["variable"] == "aligned_memory", f"of lm_ggml_aligned_malloc: {weights}")
    report.expect_site("peak", "ggml.c", function="lm_ggml_init")
    report.expect_site("peak", "ggml-alloc.c", function="lm_ggml_gallocr_reserve_n_impl", count=2)
    report.expect_site("peak", "ggml-alloc.c", function="lm_ggml_gallocr_new_n", count=1)
    check(report.json["leaks"]["bytes"] == 0, f"ggml and our program give everything back: {report.sites('leaks')}")
    expect_graphs(msleaks, f"{scratch}/run", command[0])


if __name__ == "__main__":
    main()
