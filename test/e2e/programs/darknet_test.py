#!/usr/bin/env python3
"""Tests msleaks on darknet, a program for neural networks. A network with random weights classifies a generated image.

    darknet_test.py BUILD SCRATCH

The program must behave the same under msleaks-run. The blocks that are alive at exit must equal those of LeakSanitizer, and the peak
must equal heaptrack's within 0.1 %. With --access pages, the report must find memory that the program never touches. Also checks the
counted graphs of the functions.
"""
import json
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "truth"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "graphs"))
from graphs_run import expect_flow, graphs_of  # noqa: E402
from msleaks_e2e import Msleaks, arguments, build_workload, check, expect_same, line_of, run  # noqa: E402
from truth_test import compare_alive, heaptrack_peak  # noqa: E402


LIVE_BLOCKS = [
    ("convolutional_layer.c", "make_convolutional_layer", "l.weights", "    l.weights = calloc(", 8),
    ("maxpool_layer.c", "make_maxpool_layer", "l.output", "    l.output =  calloc(", 6),
    ("softmax_layer.c", "make_softmax_layer", "l.output", "    l.output = calloc(", 1),
    ("parser.c", "parse_network_cfg", "net->workspace", "        net->workspace = calloc(", 1),
]


def generated_image(path, size=64):
    pixels = bytes((x * 4) % 256 if c == 0 else (y * 4) % 256 if c == 1 else (x * y) % 256
                   for y in range(size) for x in range(size) for c in range(3))
    Path(path).write_bytes(b"P6\n%d %d\n255\n" % (size, size) + pixels)


def finding_of(report, kind, line):
    found = [finding for finding in report.json["findings"] if finding["kind"] == kind and finding["site"]["line"] == line]
    check(len(found) == 1, f"{len(found)} findings {kind} at line {line}: {[(f['kind'], f['site']['line'], f['bytes']) for f in report.json['findings']]}")
    return found[0]


def expect_unused(msleaks, darknet, scratch):
    """Checks the finding about memory that only training needs. The test removes the allocation of this memory from the source.
    Then the peak must be lower by the savings that the report has predicted, within 1 % of the savings."""
    command, left_out = ["./darknet", "speed", "cfg/tiny.cfg", "1"], "        l.x_norm = calloc(l.batch*l.outputs, sizeof(float));"
    _, report = msleaks.run(f"{scratch}/pages", command, ["--access", "pages"], cwd=darknet)
    unused = finding_of(report, "unused", line_of(f"{darknet}/src/convolutional_layer.c", left_out))
    check(unused["site"]["variable"] == "l.x_norm" and unused["evidence"]["touched_bytes"] == 0, unused)
    check(unused["confidence"] == "proved", f"it waits at its exit: {unused['confidence']}")
    second = run([msleaks.bin / "msleaks", "verify", f"{scratch}/pages", unused["id"], "--json", "--", *command], cwd=darknet)
    verdict = json.loads(second.stdout)
    check((verdict["result"], verdict["bytes"]) == ("proved", unused["bytes"]), f"verify: {verdict}{second.stderr}")
    changed = f"{scratch}/without"
    shutil.rmtree(changed, ignore_errors=True)
    shutil.copytree(darknet, changed) # copies the times of the files, too, so make compiles only the changed file
    source = Path(f"{changed}/src/convolutional_layer.c")
    source.write_text(source.read_text().replace(left_out, "", 1))
    built = run(["make", "-s", f"CC=clang-22 -w -fpass-plugin={msleaks.plugin}", "OPTS=-O2 -g", "darknet"], cwd=changed)
    check(built.returncode == 0, f"darknet without x_norm: {built.stderr}")
    _, without = msleaks.run(f"{scratch}/pages-without", command, cwd=changed)
    saved, predicted = report.json["peak"]["bytes"] - without.json["peak"]["bytes"], unused["saves_bytes"]
    print(f"without x_norm the peak is {saved} bytes lower; predicted {predicted}")
    check(abs(saved - predicted) <= predicted / 100, "more than 1 % beside it")


def expect_graphs(msleaks, folder, layers):
    """Checks how often the innermost loop of the matrix products ran. The test computes the number from the layers that darknet lists."""
    graphs = graphs_of(msleaks, folder)
    for graph in graphs.values():
        expect_flow(graph, "darknet")
    row = re.compile(r"conv +(\d+) +(\d+) x *\2 */ *\d+ +\d+ x *\d+ x *(\d+) +-> +(\d+) x *(\d+) x *\1\b")
    products = [int(filters) * int(size) ** 2 * int(channels) * int(width) * int(height)
                for filters, size, channels, width, height in row.findall(layers)]
    check(len(products) == 8, f"{len(products)} convolutional layers: {layers}")
    graph = graphs["gemm_cpu"]  # the products are inlined into this function
    most = max(block["count"] for block in graph["blocks"])
    print(f"{len(graphs)} graphs; gemm_cpu: {graph['calls']} calls, {most} products")
    check((graph["calls"], most) == (len(products), sum(products)), f"of {len(products)} layers, {sum(products)} products")


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    darknet = f"{scratch}/darknet"
    build_workload("darknet", darknet, msleaks.plugin, "cfg")
    relinked = run(["make", "-s", "CC=clang-22", "EXEC=darknet.lsan", "LDFLAGS=-lm -pthread -fsanitize=leak", "darknet.lsan"], cwd=darknet)
    check(relinked.returncode == 0, f"darknet does not link with LeakSanitizer: {relinked.stderr}")
    generated_image(f"{scratch}/image.ppm")
    Path(f"{scratch}/names").write_text("".join(f"class {i}\n" for i in range(1000)))
    Path(f"{scratch}/classes.data").write_text(f"classes=1000\nnames={scratch}/names\ntop=5\n")
    arguments_ = ["classifier", "predict", f"{scratch}/classes.data", "cfg/darknet.cfg", "", f"{scratch}/image.ppm"]
    command = ["./darknet", *arguments_]

    plain = run(command, cwd=darknet)
    check(plain.returncode == 0 and plain.stdout.count("%: class") == 5, f"darknet does not run: {plain.stdout}{plain.stderr}")
    watched, report = msleaks.run(f"{scratch}/run", command, cwd=darknet)
    expect_same(plain, watched)
    report.expect_account()
    report.expect_sums()
    expect_graphs(msleaks, f"{scratch}/run", plain.stderr)
    # The network of darknet.cfg has 8 convolutional and 6 pooling layers. The program never frees their blocks.
    for part in ("peak", "leaks"):
        for file, function, variable, code, count in LIVE_BLOCKS:
            line = line_of(f"{darknet}/src/{file}", code)
            report.expect_site(part, file, line=line, function=function, variable=variable, count=count)
    # network_predict only uses blocks that other functions have allocated, so it must have no allocation site.
    marked = json.loads(msleaks.output("sites", f"{darknet}/darknet", "--json"))
    check(len(marked) > 100, f"{len(marked)} places in darknet")
    in_predict = [site for site in marked if site["function"] == "network_predict"]
    check(not in_predict, f"network_predict allocates nothing, and yet: {in_predict}")

    alive, places = compare_alive(["./darknet.lsan", *arguments_], report, cwd=darknet)
    print(f"alive at exit: {alive} bytes from {places} places, as LeakSanitizer says")
    peak = heaptrack_peak(command, scratch, cwd=darknet)
    ours = report.heap_peak_bytes("host")
    print(f"peak: {ours} bytes, heaptrack {peak}")
    check(abs(ours - peak) <= peak / 1000, "the peaks differ by more than 0.1 %")

    expect_unused(msleaks, darknet, scratch)
    operations = [*command[:1], "ops", "cfg/resnet50.cfg"]
    watched, report = msleaks.run(f"{scratch}/ops", operations, ["--no-report"], cwd=darknet)
    expect_same(run(operations, cwd=darknet), watched, stderr=True)
    report.expect_account()


if __name__ == "__main__":
    main()
