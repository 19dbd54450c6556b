"""Measures the cost of counting edges in OpenCL kernels, on PoCL with one thread. Kernels that are built with the plugin count
all threads of a launch, a sample of them, or no thread. The base is the same kernels without the plugin and without
msleaks-run. The result is the least time of several rounds."""
import os
import sys

from measure import Skipped, output_of

ROUNDS = 15
GOALS = {"full": 1.5, "not counted": 1.02}
# {name: options of msleaks-run; None: without msleaks-run}. The first launch is not timed, so with `--cfg-launches
# first:1` no timed launch is counted.
WAYS = {"none": None, "full": ("--cfg-mode", "full"), "cta": ("--cfg-mode", "cta"), "not counted": ("--cfg-launches", "first:1")}


class KernelCost:
    def __init__(self, bench, here):
        self.bench = bench
        self.sources, self.tests = here / "kernels", here.parent / "test/e2e/graphs"
        sys.path.insert(0, str(self.tests))

    def run(self):
        import spirv # converts SPIR-V for PoCL
        if spirv.translator() is None:
            raise Skipped("no llvm-spirv here")
        self.options = spirv.BUILD_OPTIONS
        program = self.bench.scratch / "timed"
        output_of(["g++", "-std=c++20", "-O2", f"-I{self.tests}/programs", self.sources / "timed.cpp", "-o", program, "-lOpenCL"])
        plain, counted = self.kernels(spirv, "plain", "off"), self.kernels(spirv, "counted", "cfg")
        ways = {way: (lambda options=options: self.timed(program, plain if options is None else counted, options)) for way, options in WAYS.items()}
        seen = self.bench.medians(ways, pick=min)
        for kernel, base in seen["none"].items():
            for way in list(WAYS)[1:]:
                self.bench.table.add(f"kernel {kernel}: {way} / without msleaks", base, seen[way][kernel], seen[way][kernel] / base, GOALS.get(way), "ms")

    def kernels(self, spirv, name, passes):
        module, bitcode = self.bench.scratch / f"{name}.spv", self.bench.scratch / f"{name}.bc"
        output_of([self.bench.program("msleaks-clang"), "-x", "cl", "-O2", self.sources / "kernels.cl", "-o", module], env=dict(os.environ, MSLEAKS_PASS=passes))
        if not spirv.to_bitcode(self.bench.build / "bin", module, bitcode):
            raise Skipped("llvm-spirv does not take the module")
        return bitcode

    def timed(self, program, bitcode, options):
        command = [program, bitcode, self.options, max(self.bench.scaled(ROUNDS), 2)]
        environment = dict(os.environ, POCL_MAX_PTHREAD_COUNT="1")
        if options is None:
            text = output_of(command, skipped=77, env=environment)
        else:
            words, run = self.bench.session(*options)
            text = output_of([*words, *command], skipped=77, env=environment)
            self.bench.discard(run)
        return {name: float(ms) for name, ms in (line.split() for line in text.splitlines())}
