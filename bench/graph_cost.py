"""Measures the cost of counting edges, with operators of ggml. Four builds are compared with a build without counters:

    counters outside a spanning tree
    a counter on each edge
    a call on each edge
    clang's instrumentation for profiles

The builds run in turns, with one thread. The result is the least time of several rounds."""
import os
import subprocess

from measure import Failed, Skipped, output_of

ROUNDS = 9 # number of rounds for scale 1
BUILD = "workloads/ggml/build.sh"
GENERATE = {name: "-fprofile-generate" for name in ("CFLAGS", "CXXFLAGS", "LDFLAGS")}
GOAL = 1.05
# {name: (whether it is built with the plugin, environment variables of the build, whether it runs under msleaks-run)}
WAYS = {"none": (False, {}, False), "counted": (True, {"MSLEAKS_PASS": "cfg"}, True), "counted, without msleaks-run": (True, {"MSLEAKS_PASS": "cfg"}, False),
        "each edge": (True, {"MSLEAKS_PASS": "cfg;counters=all"}, True),
        "a call on each edge": (True, {"MSLEAKS_PASS": "cfg;counters=calls"}, True), "clang -fprofile-generate": (False, GENERATE, False)}


class GraphCost:
    def __init__(self, bench, here):
        self.bench = bench
        self.script = here / BUILD

    def run(self):
        plugin = output_of([self.bench.program("msleaks"), "plugin", "--llvm", "22"]).strip()
        folders = {}
        for way, (with_plugin, environment, _) in WAYS.items():
            key = (with_plugin, tuple(environment.items()))
            folders[way] = folders[key] if key in folders else self.build(len(folders), plugin if with_plugin else None, environment)
            folders[key] = folders[way]
        seen = self.bench.medians({way: lambda way=way: self.operators(folders[way], WAYS[way][2]) for way in WAYS}, pick=min)
        for name, base in seen["none"].items():
            for way in list(WAYS)[1:]:
                goal = GOAL if way == "counted" else None
                self.bench.table.add(f"{name}: {way} / not counted", base, seen[way][name], seen[way][name] / base, goal, "ms")

    def build(self, number, plugin, environment):
        folder = self.bench.scratch / f"ggml-{number}"
        command = [self.script, folder, *([plugin] if plugin else [])]
        done = subprocess.run(command, env=dict(os.environ, **environment), capture_output=True, text=True)
        if done.returncode == 77:
            raise Skipped("ggml cannot be had")
        if done.returncode != 0:
            raise Failed(f"{self.script}: {done.stderr[-300:]}")
        return folder

    def operators(self, folder, is_recorded):
        command = [folder / "operators", self.bench.scaled(ROUNDS) or 1]
        environment = dict(os.environ, LLVM_PROFILE_FILE=os.devnull)
        if not is_recorded:
            text = output_of(command, env=environment)
        else:
            words, run = self.bench.session()
            text = output_of([*words, *command], env=environment)
            self.bench.discard(run)
        return {name: float(ms) for name, ms in (line.split() for line in text.splitlines())}
