"""Compares builds by msleaks-clang++ and by clang++ -g: user time, size of code, and size of objects. Both compilers compile
the same files, in turns."""
import json
import os
import shlex
import subprocess
from pathlib import Path

from measure import Failed, Skipped, output_of

HERE = Path(__file__).resolve().parent
LLVM = "22"
ORDINARY, DENSE, TEXT = 1.05, 2.0, 2.5  # goals: largest ratios to clang++ -g; a link has the goal ORDINARY
JSON_TESTS = ("allocator", "merge_patch", "user_defined_input")


def user_seconds(words, cwd):
    child = subprocess.Popen([str(word) for word in words], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}: exit {child.returncode}: {said[-300:]}")
    return usage.ru_utime


class Unit:
    """A file to compile, with the compiler for its language, its options, and the folder in which the compiler runs."""

    def __init__(self, source, options, folder):
        self.source, self.options, self.folder = Path(source), list(options), folder
        self.name = "clang" if self.source.suffix == ".c" else "clang++"

    def command(self, way, build, target):
        compiler = [build / "bin" / f"msleaks-{self.name}"] if way == "ours" else [f"{self.name}-{LLVM}", "-g"]
        return [*compiler, *self.options, "-w", "-c", self.source, "-o", target]


def our_units(build):
    """Returns the five longest files of analysis/, with the options of the build."""
    def length(entry):
        return len(Path(entry["file"]).read_text().splitlines())

    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if "/analysis/" in entry["file"] and entry["file"].endswith(".cpp")]
    chosen = sorted(entries, key=lambda entry: (-length(entry), entry["file"]))[:5]
    return [Unit(entry["file"], options_of(entry), entry["directory"]) for entry in chosen]


def options_of(entry):
    """Returns the options of a compile command that decide which code is compiled and how it is optimised."""
    words, kept = shlex.split(entry["command"]), []
    for word, following in zip(words, [*words[1:], ""]):
        if word.startswith(("-I", "-D", "-O", "-std=", "-f")):
            kept.append(word)
        elif word == "-isystem":
            kept += [word, following]
    return kept


class CompileCost:
    def __init__(self, bench):
        self.bench = bench

    def run(self):
        if not (self.bench.build / "bin" / "msleaks-clang++").exists():
            self.bench.table.note("compile", "skipped: msleaks-clang++ is not built")
            return
        self.compare("five files of ours", our_units(self.bench.build), ORDINARY)
        self.thin_link("five files of ours", our_units(self.bench.build))
        self.dense()
        if self.bench.scale < 1:  # --check
            return
        self.fetched("darknet", HERE / "workloads" / "darknet" / "bench.sh", self.darknet_units)
        self.fetched("three tests of nlohmann-json", HERE / "workloads" / "json" / "fetch_tests.sh", self.json_units)

    def fetched(self, name, script, units):
        try:
            text = output_of([script, self.bench.build], skipped=77)
        except Skipped as reason:
            self.bench.table.note(f"compile {name}", f"skipped: {reason}")
        else:
            self.compare(name, units(text), ORDINARY)

    def darknet_units(self, _):
        folder = self.bench.build / "workloads" / "darknet-plain"
        built = [source for source in sorted(folder.glob("src/*.c")) if (folder / "obj" / f"{source.stem}.o").exists()]
        return [Unit(source, ["-O2", "-Iinclude", "-Isrc"], folder) for source in built]

    def json_units(self, text):
        folder = Path(text.strip().splitlines()[-1])
        options = ["-O2", "-std=c++17", "-Iinclude", "-Itests/thirdparty/doctest", "-Itests/thirdparty/fifo_map"]
        return [Unit(folder / f"tests/src/unit-{name}.cpp", options, folder) for name in JSON_TESTS]

    def dense(self):
        growth = {}
        for factor in (0.25, 1):
            source = self.bench.scratch / f"dense-{factor}.cpp"
            source.write_text(output_of([HERE / "workloads" / "dense" / "generate.py", factor * min(self.bench.scale, 1)]))
            growth[factor] = self.compare(f"dense unit, {factor} of it", [Unit(source, ["-O2"], self.bench.scratch)],
                                          DENSE, TEXT)
        grown = {way: growth[1][way] / growth[0.25][way] for way in ("plain", "ours")}
        self.bench.table.add("compile dense unit: growth of the time from 1/4 of it / growth of plain", grown["plain"],
                             grown["ours"], grown["ours"] / grown["plain"], 1.1, "x")

    def compare(self, name, units, time_goal, text_goal=None):
        """Returns {way: seconds} for the two ways to compile, and adds rows to the table."""
        if self.bench.scale < 1:  # --check
            units = units[:1]

        def compiled(way):
            return lambda: sum(user_seconds(unit.command(way, self.bench.build, self.target(way, i)), unit.folder)
                               for i, unit in enumerate(units))

        seconds = self.bench.medians({way: compiled(way) for way in ("plain", "ours")})
        sizes = {way: self.sizes(way, len(units)) for way in seconds}
        table = self.bench.table
        table.add(f"compile {name}: user time", seconds["plain"], seconds["ours"], seconds["ours"] / seconds["plain"],
                  time_goal, "s")
        for column, goal in (("text", text_goal), ("object", None)):
            plain, ours = sizes["plain"][column], sizes["ours"][column]
            table.add(f"compile {name}: {column}", plain, ours, ours / plain, goal, "KiB")
        return seconds

    def thin_link(self, name, units):
        """Links a library of the same files with ThinLTO, without and with the plugin, which inserts callbacks at the link."""
        units = units if self.bench.scale >= 1 else units[:1]
        words = {"plain": [f"clang++-{LLVM}", "-g"], "ours": [self.bench.build / "bin" / "msleaks-clang++", "--msl-link"]}
        thin = ["-flto=thin", "-fuse-ld=lld", "-fPIC"]
        objects = {way: [self.target(way, i) for i in range(len(units))] for way in words}
        for way, command in words.items():
            for unit, target in zip(units, objects[way]):
                user_seconds([*command, *unit.options, *thin, "-w", "-c", unit.source, "-o", target], unit.folder)

        def linked(way):
            library = self.bench.scratch / f"{way}.so"
            return lambda: user_seconds([*words[way], *thin, "-O2", "-shared", *objects[way], "-o", library],
                                        self.bench.scratch)

        seconds = self.bench.medians({way: linked(way) for way in words})
        self.bench.table.add(f"link {name} with ThinLTO: user time", seconds["plain"], seconds["ours"],
                             seconds["ours"] / seconds["plain"], ORDINARY, "s")

    def target(self, way, number):
        return self.bench.scratch / f"{way}-{number}.o"

    def sizes(self, way, count):
        """Returns the KiB of machine code, and of the whole object files."""
        files = [self.target(way, i) for i in range(count)]
        code = 0
        for line in output_of(["size", "-A", *files]).splitlines():
            words = line.split()
            if len(words) == 3 and words[0].startswith(".text"):
                code += int(words[1])
        return {"text": code / 1024, "object": sum(file.stat().st_size for file in files) / 1024}
