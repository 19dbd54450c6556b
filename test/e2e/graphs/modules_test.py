#!/usr/bin/env python3
"""Tests counted kernels of CUDA and HIP on the stand-ins of their drivers. The hooks launch a counted copy of each kernel in place of
the program's kernel. The stand-in runs the device's code on the host. The program gets the same results as without msleaks, and the
counts equal the expected numbers.

    modules_test.py BUILD SCRATCH LLVM cuda|hip
"""
import json
import os
import re
import shutil
import struct
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from device_modules import make_module  # noqa: E402
from device_run import STANDINS, compile, sources_for, standin  # noqa: E402
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, need, run  # noqa: E402
from without_sdk import device_options  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
KERNELS = PROGRAMS / "device_kernels.cu"
DRIVER = PROGRAMS / "module_driver.h" # common code of the host programs
SIZE, BLOCK, LAUNCHES = 1000, 64, 5
BLOCKS = (SIZE + BLOCK - 1) // BLOCK
THREADS = BLOCKS * BLOCK
NAMES = [(r"\bcuLaunchKernel\b", "hipModuleLaunchKernel"), (r"\bcuMemAlloc_v2", "hipMalloc"), (r"\bcuMemFree_v2", "hipFree"),
         (r"\bcuStreamCreate\b", "hipStreamCreateWithFlags"), (r"\bcuEventCreate\b", "hipEventCreateWithFlags"),
         (r"\bcu([A-Z]\w*?)(_v2)?\b", r"hip\1")]


def steps(value):
    count = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        count += 1
    return count


def device_code(topic, plugin, passes, code, compiler="clang++-22", kernels=KERNELS, options=(), processor=None, form=("-S", "-emit-llvm")):
    """Compiles the kernels for the device into the file `code`. `form` contains the options that select the kind of output, by
    default LLVM IR."""
    command = [need(compiler), "-Wno-everything", "-g", "-O1", f"-fpass-plugin={plugin}", *device_options(topic, processor), *options, *form, kernels, "-o", code]
    done = run(command, env={**os.environ, "MSLEAKS_PASS": passes})
    check(done.returncode == 0, f"{kernels}: {done.stderr}")


class Device:
    def __init__(self, msleaks, scratch, topic, host="module_host.c", kernels=KERNELS, options=(), driver=None):
        """Builds the host program. `driver` is the path of the driver. Without this path, the program is linked with the
        stand-in."""
        self.msleaks, self.scratch, self.topic, self.kernels, self.options = msleaks, Path(scratch), topic, kernels, options
        library = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so"}[topic]
        sources = sources_for(topic, NAMES, scratch, STANDINS / "cuda/libcuda_modules.cpp", DRIVER, PROGRAMS / host)
        is_hip = topic == "hip"
        self.driver = driver or standin(scratch, library, sources / "libcuda_modules.cpp", link=["-DSTANDIN_HIP", "-ldl"] if is_hip else ["-ldl"])
        self.host = f"{scratch}/host"
        compile(need("gcc"), "-g", "-O1", sources / host, *(["-DHIP"] if is_hip else []), self.driver, "-o", self.host,
                f"-Wl,-rpath,{Path(self.driver).parent}")

    def module(self, name, passes="", change=None):
        code = self.scratch / f"{name}.ll"
        device_code(self.topic, self.msleaks.plugin, passes, code, self.msleaks.compiler("c++"), self.kernels, self.options)
        if change is not None:
            code.write_text(change(code.read_text()))
        return make_module(code, str(self.scratch / f"{name}.so"), self.msleaks.llvm)

    def run(self, module, *how, options=(), environment=(), launches=LAUNCHES):
        """Runs the host program, and checks that it prints the same as without msleaks. Returns {name: graph}."""
        return self.launched([self.host, module, str(launches), *how], options, environment)

    def launched(self, command, options=(), environment=()):
        settings = {**os.environ, **dict(environment)}
        alone = run(command, env={**os.environ})
        folder = self.scratch / "run"
        shutil.rmtree(folder, ignore_errors=True)
        done = run([self.msleaks.bin / "msleaks-run", *options, "-o", folder, "--", *command], env=settings)
        equal(f"{command[2:]} {options}: the program", (done.returncode, done.stdout), (alone.returncode, alone.stdout))
        cfg = run([self.msleaks.bin / "msleaks", "cfg", folder, "--json"])
        self.said = done.stderr + cfg.stderr
        return {graph["function"]: graph for graph in json.loads(cfg.stdout)} if cfg.returncode == 0 else {}

    def dump(self, kinds):
        """Returns the last run's events of these kinds that concern a device."""
        done = self.msleaks.output("dump", self.scratch / "run", "--json", "--kind", kinds)
        return [event for event in map(json.loads, done.splitlines()) if event["heap"] == "device"]


def expect_hand_count(what, graphs, launches=LAUNCHES):
    equal(f"{what}: kernels", sorted(graphs), ["choose", "collatz", "steps(unsigned long)"])
    for name in "collatz", "choose":
        graph = graphs[name]
        equal(f"{what}, {name}: calls", graph["calls"], THREADS * launches)
        equal(f"{what}, {name}: mode", (graph["mode"], graph["scale"]), ("full", 1))
        rows = [(row["grid"], row["block"], row["launches"], row["counted"]) for row in graph["launches"]]
        equal(f"{what}, {name}: launches", rows, [([BLOCKS, 1, 1], [BLOCK, 1, 1], launches, launches)])
        check(all(edge["state"] in ("measured", "derived") for edge in graph["edges"]), f"{what}, {name}: edges")
    in_range = [block["count"] for block in graphs["collatz"]["blocks"] if block["line"] == line_of(KERNELS, "in range")]
    equal(f"{what}: in range", in_range[:1], [SIZE * launches])
    total = sum(steps(1 + i) for i in range(SIZE)) * launches
    equal(f"{what}: steps", max(block["count"] for block in graphs["steps(unsigned long)"]["blocks"]), total)
    cases, counted = Counter((i + k) % 6 for i in range(SIZE) for k in range(i % 7)), Counter()
    for edge in graphs["choose"]["edges"]:
        counted[edge["value"] if edge["kind"] == "switch" else edge["kind"]] += edge["count"]
    for value in 0, 2, 4:
        equal(f"{what}: case {value}", counted[value], cases[value] * launches)
    equal(f"{what}: default", counted["default"], (cases[1] + cases[3] + cases[5]) * launches)


def arguments_of(graph):
    return [(row["number"], row["reads"], row["writes"]) for row in graph["arguments"]]


def expect_arguments(device, module, *how):
    """Checks the access events after each launch. These events list how the launch may use each argument. A last event with address 0
    says that the launch uses no other memory."""
    graphs = device.run(module, *how)
    equal(f"{how}: collatz", arguments_of(graphs["collatz"]), [(0, False, True)])
    equal(f"{how}: choose", arguments_of(graphs["choose"]), [(0, True, True)])
    events = device.dump("launch,access,alloc")
    block = next(event["address"] for event in events if event["event"] == "Alloc" and event["heap"] == "device")
    told = [(event["event"], event.get("address"), set(event["flags"]) - {"hook"}) for event in events if event["event"] != "Alloc"]
    first, second = {"listed", "write"}, {"listed", "read", "write"}
    launches = [[("Launch", None, set()), ("Access", block, uses), ("Access", 0, {"listed"})] for uses in (first, second)]
    equal(f"{how}: events", told, sum(launches, []) * LAUNCHES)
    report = json.loads(run([device.msleaks.bin / "msleaks", "report", device.scratch / "run", "--json"]).stdout)
    unused = [finding["site"]["line"] for finding in report["findings"] if finding["kind"] == "unused"]
    equal(f"{how}: unused", unused, [line_of(PROGRAMS / "module_host.c", "// no kernel is given it")])
    check(report["floor"] is not None and report["floor"]["bytes"] < 2 << 20, f"{how}: floor {report['floor']}")
    lines = {event["site"] for event in events if event["event"] in ("Launch", "Access")}
    equal(f"{how}: lines", len(lines), 1)


ENDS = {"cuda": ("cuStreamSynchronize", "cuStreamSynchronize_ptsz", "cuEventSynchronize", "cuCtxSynchronize", "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxRelease_v2"),
        "hip": ("hipStreamSynchronize", "hipEventSynchronize", "hipDeviceSynchronize", "hipDeviceReset")}


def expect_read_by(device, module):
    """Checks that msleaks reads the counters when the program calls a function of ENDS. These functions wait for the device, or destroy
    its context. The program calls no other function at which msleaks would read the counters."""
    for function in ENDS[device.topic]:
        expect_hand_count(function, device.run(module, f"ends={function}"))


def expect_unknown_arguments(device, module):
    """If msleaks cannot read the list of arguments, it records no uses and launches the program's own kernel."""
    graph = device.run(module, "odd")["collatz"]
    equal("odd: launches", [(row["launches"], row["counted"]) for row in graph["launches"]], [(LAUNCHES, 0)])
    equal("odd: events", {event["event"] for event in device.dump("launch,access")}, {"Launch"})


def expect_alike(device, module):
    """If the program sets an attribute of its kernel, msleaks sets the same attribute of the counted copy. Otherwise the driver would
    refuse the copy, and the launch would not be counted."""
    for how in [], ["config"], ["static" if device.topic == "hip" else "library"]:
        expect_hand_count(f"shared, {how}", device.run(module, "shared", *how))


def expect_together(device, module):
    """The thread blocks of a cooperative launch wait for each other, so all of them must run at the same time. For the counted copy,
    the number of thread blocks that can run at the same time may be smaller. So msleaks launches the program's own kernel."""
    equal("together", device.run(module, "together"), {})
    equal("together: launches", [event["event"] for event in device.dump("launch,access")], ["Launch"] * 2 * LAUNCHES)


def expect_in_kernel(device):
    """Checks kernels that count themselves, so there is no counted copy. Such a kernel counts in every launch, even if msleaks cannot
    read the launch's arguments."""
    module = device.module("in-kernel", "cfg;in-kernel")
    ways = [], ["packed"], ["odd"], ["reload"], ["config"], ["shared"], *([["library"]] if device.topic == "cuda" else [["ext"], ["hcc"]])
    for how in ways:
        expect_hand_count(f"in kernel, {how}", device.run(module, *how))
    for what, how, environment in ("together", ["together"], {}), ("captured", [], {"STANDIN_CAPTURING": "1"}):
        for graph in device.run(module, *how, environment=environment).values():
            threads = THREADS * LAUNCHES
            equal(f"in kernel, {what}: {graph['function']}", (graph["calls"], graph["launches"], graph["scale"]),
                  (SIZE * LAUNCHES if "steps" in graph["function"] else threads, [], 1))
    graph = device.run(module, options=["--cfg-mode", "cta"])["collatz"]
    equal("in kernel, cta", (graph["sampled_threads"], graph["calls"]), (BLOCK * LAUNCHES, THREADS * LAUNCHES))
    expect_hand_count("in kernel, every:2", device.run(module, options=["--cfg-launches", "every:2"]))
    equal("in kernel, off", device.run(module, options=["--cfg-launches", "off"]), {})
    for prefix in "__msl_kernel_", "__msl_graphs_", "__msl_counts_", "__msl_in_kernel_":
        changed = device.module("changed", "cfg;in-kernel", without(prefix))
        counts = {edge["count"] for graph in device.run(changed).values() for edge in graph["edges"]}
        check(not counts or counts == {None}, f"in kernel, without {prefix}: {counts}")


def bundle_of(binary, path):
    """Writes a bundle to `path` as clang-offload-bundler does: an empty entry for the host, and an entry with the device's binary."""
    names = b"host-x86_64-unknown-linux-gnu-", b"hipv4-amdgcn-amd-amdhsa--gfx90a"
    content, begin = Path(binary).read_bytes(), 4096
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 2)
    for name, size in zip(names, (0, len(content))):
        head += struct.pack("<QQQ", begin, size, len(name)) + name
    Path(path).write_bytes(head.ljust(begin, b"\0") + content)


def expect_registered(device, module):
    """Builds the program as hipcc does. The source launches kernels by <<<>>>, and clang adds a constructor that registers the binary
    and its kernels. The launches must be counted."""
    bundle, program = device.scratch / "module.hipfb", device.scratch / "registered"
    bundle_of(module, bundle)
    object_file = device.scratch / "registered.o"
    compiled = run([device.msleaks.bin / "msleaks-clang++", "--msl-cfg=^nothing of the host$", "-x", "hip", "--cuda-host-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-Wno-everything", "-O1",
                    "-Xclang", "-fcuda-include-gpubinary", "-Xclang", bundle, "-c", PROGRAMS / "registered_host.cu", "-o", object_file],
                   env={**os.environ, "MSLEAKS_LLVM": device.msleaks.llvm})
    check(compiled.returncode == 0, compiled.stderr)
    compile(need("g++"), object_file, device.driver, "-o", program, f"-Wl,-rpath,{device.scratch}")
    expect_hand_count("registered by clang", device.launched([program, str(LAUNCHES)]))
    told = [event["event"] for event in device.dump("launch,access")]
    equal("registered by clang: events", told, ["Launch", "Access", "Access"] * 2 * LAUNCHES)


def expect_samples(device, module):
    graphs = device.run(module, options=["--cfg-mode", "cta"])
    graph = graphs["collatz"]
    equal("cta: threads", (graph["sampled_threads"], graph["threads"], graph["calls"]),
          (BLOCK * LAUNCHES, THREADS * LAUNCHES, THREADS * LAUNCHES))
    wave = {"cuda": 32, "hip": 64}[device.topic]
    graph = device.run(module, options=["--cfg-mode", "wavefront"])["collatz"]
    equal("wavefront: threads", graph["sampled_threads"], wave * LAUNCHES)
    for how in [], *([["hcc"]] if device.topic == "hip" else []): # with "hcc" the program launches by another hooked function
        graph = device.run(module, *how, options=["--cfg-launches", "first:2"])["collatz"]
        equal(f"first:2 {how}", [(row["launches"], row["counted"]) for row in graph["launches"]], [(LAUNCHES, 2)])
    equal("first:2: calls", graph["calls"], THREADS * LAUNCHES)
    equal("off", device.run(module, options=["--cfg-launches", "off"]), {})


def without(prefix):
    """Returns a function that renames the constants with this prefix, so that msleaks does not find them."""
    return lambda code: re.sub(rf"@{prefix}(?=\w)", f"@{prefix}no_", code)


def expect_doubt(device, module):
    """Checks modules and launches that msleaks cannot count. The program's own kernels must run, and msleaks must record their launches."""
    graph = device.run(module, environment={"STANDIN_REFUSED": "__msl_counted_collatz"})["collatz"]
    equal("refused: launches", [(row["launches"], row["counted"]) for row in graph["launches"]], [(LAUNCHES, 0)])
    equal("refused: counts", {edge["count"] for edge in graph["edges"]}, {None})
    graph = device.run(module, environment={"STANDIN_CAPTURING": "1"})["choose"]
    equal("captured: launches", [(row["launches"], row["counted"]) for row in graph["launches"]], [(LAUNCHES, 0)])
    equal("no counted copies", device.run(device.module("plain", "off")), {})
    for prefix in "__msl_kernel_", "__msl_graphs_", "__msl_counted_":
        equal(f"without {prefix}", device.run(device.module("changed", "cfg", without(prefix))), {})
    other = device.module("other", "cfg", lambda code: re.sub(r"(@__msl_kernel_collatz = .*?\{ i32 )1,", r"\g<1>9,", code))
    graphs = device.run(other)
    equal("of another version", (graphs["collatz"]["launches"], graphs["choose"]["launches"][0]["counted"]), ([], LAUNCHES))
    report = device.msleaks.output("report", device.scratch / "run", "--section", "notes")
    check("another version" in report, f"the report does not say why collatz was not counted:\n{report}")
    damaged = device.module("damaged", "cfg", lambda code: re.sub(r"(@__msl_graphs_\w+ = .*?i64 -?\d+, i64 -?\d+, i64 )-?\d+", r"\g<1>7", code, count=1))
    equal("damaged", device.run(damaged), {})


def main():
    build, scratch, llvm, topic = arguments("build", "scratch", "llvm", "topic")
    os.makedirs(scratch, exist_ok=True)
    device = Device(Msleaks(build, llvm), scratch, topic)
    module = device.module("counted", "cfg")
    for how in [], ["packed"], ["reload"], *([["library"], ["config"], ["library", "packed"]] if topic == "cuda" else [["static"], ["config"], ["ext"], ["ext", "packed"], ["hcc"], ["static", "ext"], ["static", "config"]]):
        expect_hand_count(" ".join(how) or "each", device.run(module, *how))
        expect_arguments(device, module, *how)
    expect_read_by(device, module)
    expect_unknown_arguments(device, module)
    for counters in "all", "calls":
        expect_hand_count(counters, device.run(device.module(counters, f"cfg;counters={counters}")))
    if topic == "hip":
        expect_registered(device, module)
        graph = device.run(module, "static", options=["--cfg-launches", "every:2"])["collatz"]
        equal("static, every:2", [(row["launches"], row["counted"]) for row in graph["launches"]], [(LAUNCHES, 3)])
        equal("static, no copies", device.run(device.module("plain", "off"), "static"), {})
        graph = device.run(module, "static", environment={"STANDIN_REFUSED": "__msl_counted_collatz"})["collatz"]
        equal("static, refused", [(row["launches"], row["counted"]) for row in graph["launches"]], [(LAUNCHES, 0)])
    expect_alike(device, module)
    expect_together(device, module)
    expect_in_kernel(device)
    expect_samples(device, module)
    expect_doubt(device, module)


if __name__ == "__main__":
    main()
