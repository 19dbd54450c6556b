"""Measures the time in which `msleaks profile` reads a perf.data. The base is perf's own two readers, which print text for the
same file and the same functions.

Two files are read. The first comes from a program with many functions that all take time. The second comes from a compiler,
whose large libraries have only their exported symbols."""
import shutil
import statistics
import subprocess
import time

from measure import Failed, output_of

FUNCTIONS = 200
LEAST_PERCENT = "0.5"  # perf lists the instructions of functions with at least this share, as `msleaks profile` does
FREQUENCY = 50_000


class ProfileCost:
    def __init__(self, bench):
        self.bench = bench

    def run(self):
        if not shutil.which("perf"):
            return self.bench.table.note("profiles", "no perf here")
        for name, command in (("200 functions", self.many_functions()), ("clang", self.compilation())):
            file = self.bench.scratch / "perf.data"
            done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(FREQUENCY), "-o", file, "--", *command],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                return self.bench.table.note("profiles", f"perf cannot record here: {done.stderr.strip()[:200]}")
            self.compare(name, file)

    def compare(self, name, file):
        ours = self.bench.program("msleaks")
        stored = self.bench.scratch / "out.lntprof"
        ways = {"report": lambda: self.seconds("perf", "report", "--stdio", "-i", file),
                "functions": lambda: self.seconds(ours, "profile", "functions", "--no-text", file),
                "annotate": lambda: self.seconds("perf", "annotate", "--stdio", "--percent-limit", LEAST_PERCENT, "-i", file),
                "code": lambda: self.seconds(ours, "profile", "code", file),
                "upgrade": lambda: self.seconds(ours, "profile", "upgrade", file, stored)}
        cost = self.bench.medians(ways, pick=statistics.median)
        samples = subprocess.run(["perf", "report", "--stdio", "-i", file], capture_output=True, text=True, check=False).stdout.count("%")
        self.bench.table.note(f"perf.data of {name}", f"{file.stat().st_size:,} B, {samples} rows of perf report")
        for what, peer, way in (("functions, profile functions --no-text / perf report", "report", "functions"),
                                ("functions and instructions, profile code / perf annotate", "annotate", "code"),
                                ("the same as a file for LNT, profile upgrade / perf annotate", "annotate", "upgrade")):
            self.bench.table.add(f"{name}: {what}", cost[peer] * 1e3, cost[way] * 1e3, cost[way] / cost[peer], 1 / 6, "ms")

    def seconds(self, *command):
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{command}: exit {done.returncode}: {done.stderr[-300:]}")
        return time.monotonic() - begin

    def many_functions(self):
        source, program = self.bench.scratch / "many.c", self.bench.scratch / "many"
        body = "\n  ".join(f"x ^= x << {1 + i % 13}; if (x & {1 << i % 20}) x += x >> {1 + i % 7};" for i in range(30))
        text = "".join(f"__attribute__((noinline)) unsigned long f{i}(unsigned long x) {{\n  {body}\n  return x + {i};\n}}\n" for i in range(FUNCTIONS))
        calls = " ".join(f"x += f{i}(x);" for i in range(FUNCTIONS))
        source.write_text(f"{text}int main(void) {{ unsigned long x = 1; for (int i = 0; i < {self.bench.scaled(200_000)}; ++i) {{ {calls} }} return x == 0; }}\n")
        output_of(["gcc", "-O1", source, "-o", program])
        return [program]

    def compilation(self):
        source = self.bench.scratch / "includes.cpp"
        source.write_text("#include <algorithm>\n#include <iostream>\n#include <map>\n#include <regex>\n"
                          "int main(int n, char **v) { std::map<std::string, int> m; std::regex r(v[0]); m[v[0]] = n; return std::regex_match(v[0], r); }\n")
        return ["clang++-22", "-O2", "-c", source, "-o", self.bench.scratch / "includes.o"]
