#!/usr/bin/env python3
"""Checks which threads of a launch count, in mode `full` and in the modes that count a sample of the threads. A stand-in runs the
device's code on the host (modules_test.py). The test uses grids of one, two and three dimensions. The size of some thread blocks is no
multiple of the size of a wave, and the last thread blocks may be smaller. Each count equals the expected number.

    samples_test.py BUILD SCRATCH LLVM cuda|hip
"""
import os
import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from modules_test import PROGRAMS, Device  # noqa: E402
from msleaks_e2e import Msleaks, arguments, check, equal, line_of  # noqa: E402

KERNELS = PROGRAMS / "sampled_kernels.cu"
WAVE = {"cuda": 32, "hip": 64}
LAUNCHES = 5
MODES = "full", "cta", "wavefront", "strata"


def linear(at, of):
    return (at[2] * of[1] + at[1]) * of[0] + at[0]


class Shape:
    """Describes a launch with a grid of three dimensions. The kernel returns immediately in threads outside of `size`."""

    def __init__(self, block, size, grid=None, threads=None):
        self.block, self.size = block, size
        self.threads = threads or tuple(g * b for g, b in zip(grid, block))
        self.grid = tuple((t + b - 1) // b for t, b in zip(self.threads, block))
        self.is_in_threads = threads is not None

    @property
    def words(self):
        sizes = *(self.threads if self.is_in_threads else self.grid), *self.block, *self.size
        return [*map(str, sizes), *(["threads"] if self.is_in_threads else [])]

    def block_at(self, at):
        """Returns the number of threads in the thread block at this position, in each dimension."""
        return tuple(min(b, t - a * b) for a, b, t in zip(at, self.block, self.threads))

    def counting(self, mode, wave):
        """Yields the positions of the threads that count."""
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        for at in product(*map(range, self.grid)):
            number, here = linear(at, self.grid), self.block_at(at)
            is_centre = at == tuple(count // 2 for count in self.grid)
            is_hashed = (number * 0x9e3779b97f4a7c15 & (1 << 64) - 1) >> 40 & 63 == 0
            if mode in ("cta", "wavefront") and not is_centre or mode == "strata" and not (is_centre or is_hashed or number in (0, blocks - 1)):
                continue
            waves = (here[0] * here[1] * here[2] + wave - 1) // wave
            for thread in product(*map(range, here)):
                if mode != "wavefront" or linear(thread, here) // wave == waves // 2:
                    yield tuple(a * b + t for a, b, t in zip(at, self.block, thread))

    def rounds(self, at):
        """Returns the number of rounds that the kernel makes in the thread at this position."""
        is_in = all(a < s for a, s in zip(at, self.size))
        return linear(at, self.size) // 16 + 1 if is_in else 0


SHAPES = {
    "one block": Shape((64, 1, 1), (50, 1, 1), grid=(1, 1, 1)),
    "one thread": Shape((1, 1, 1), (1, 1, 1), grid=(1, 1, 1)),
    "blocks of 96": Shape((96, 1, 1), (1000, 1, 1), grid=(11, 1, 1)),
    "blocks of 100": Shape((100, 1, 1), (1000, 1, 1), grid=(11, 1, 1)),
    "blocks of 33": Shape((33, 1, 1), (300, 1, 1), grid=(10, 1, 1)),
    "two dimensions": Shape((24, 5, 1), (100, 18, 1), grid=(5, 4, 1)),
    "three dimensions": Shape((6, 7, 4), (28, 27, 11), grid=(5, 4, 3)),
    "many blocks": Shape((32, 1, 1), (9600, 1, 1), grid=(300, 1, 1)),
}
# Launches in which the last thread block of a row has fewer threads than the other thread blocks.
RAGGED = {
    "a ragged end": Shape((96, 1, 1), (990, 1, 1), threads=(1000, 1, 1)),
    "a ragged centre": Shape((100, 1, 1), (140, 1, 1), threads=(150, 1, 1)),
    "ragged in three dimensions": Shape((8, 4, 6), (14, 6, 10), threads=(15, 7, 10)),
}


def expect_sample(what, graph, shape, mode, wave, launches=LAUNCHES, counted=LAUNCHES):
    threads = shape.threads[0] * shape.threads[1] * shape.threads[2]
    places = list(shape.counting(mode, wave))
    rounds = sum(map(shape.rounds, places))
    check(rounds != 0, f"{what}: no thread that counts is in range")
    equal(f"{what}: threads", (graph["sampled_threads"], graph["threads"], graph["calls"]), (len(places) * counted, threads * launches, threads * launches))
    rows = [(row["grid"], row["block"], row["mode"], row["launches"], row["counted"]) for row in graph["launches"]]
    equal(f"{what}: launches", rows, [(list(shape.grid), list(shape.block), mode, launches, counted)])
    found = max(block["count"] for block in graph["blocks"] if block["line"] == line_of(KERNELS, "// a round"))
    wanted = rounds * threads * launches / len(places)
    check(abs(found - wanted) <= 1, f"{what}: {found} rounds, not {wanted}")


def expect_bytes(device, graph):
    """Checks which bytes of each argument a launch may use. The range of bytes is known for the second argument only."""
    rows = [(row["number"], row["reads"], row["writes"], row["begin"], row["end"]) for row in graph["arguments"]]
    equal("arguments", rows, [(0, False, True, None, None), (1, True, False, 16, 48)])
    events = device.dump("access,alloc")
    out, table = (event["address"] for event in events if event["event"] == "Alloc")
    told = [(event["address"], event["size"], set(event["flags"]) - {"hook"}) for event in events if event["event"] == "Access"]
    each = [(out, 0, {"listed", "write"}), (table + 16, 32, {"listed", "read"}), (0, 0, {"listed"})]
    equal("accesses", told, each * LAUNCHES)


def expect_never_launched(graph):
    equal("never: calls", (graph["calls"], graph["launches"], graph["threads"]), (0, [], 0))
    equal("never: edges", {edge["count"] for edge in graph["edges"]}, {0})


def expect_launches(device, module):
    """Checks how many launches are counted. All launches do the same work, so the scaled counts do not depend on this number."""
    shape = SHAPES["blocks of 96"]
    for launches, counted in {"every:1": 5, "every:2": 3, "every:9": 1, "first:1": 1, "first:2": 2, "first:9": 5, "budget:100": 5, "budget:40": 2, "budget:1": 1}.items():
        for mode in "full", "cta":
            options = ["--cfg-mode", mode, "--cfg-launches", launches]
            graph = device.launched([device.host, module, str(LAUNCHES), *shape.words], options)["rounds"]
            expect_sample(" ".join(options), graph, shape, mode, WAVE[device.topic], counted=counted)


def main():
    build, scratch, llvm, topic = arguments("build", "scratch", "llvm", "topic")
    os.makedirs(scratch, exist_ok=True)
    # By default, clang assumes that all thread blocks of a HIP grid have the same size. This option removes the assumption.
    ragged = ["-fno-offload-uniform-block"] if topic == "hip" else []
    device = Device(Msleaks(build, llvm), scratch, topic, "sampled_host.c", KERNELS, ragged)
    module = device.module("counted", "cfg")
    for name, shape in {**SHAPES, **(RAGGED if topic == "hip" else {})}.items():
        for mode in MODES:
            graphs = device.launched([device.host, module, str(LAUNCHES), *shape.words], ["--cfg-mode", mode])
            expect_sample(f"{name}, {mode}", graphs["rounds"], shape, mode, WAVE[topic])
        expect_never_launched(graphs["never"])
    expect_bytes(device, graphs["rounds"])
    expect_launches(device, module)


if __name__ == "__main__":
    main()
