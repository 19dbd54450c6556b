"""Measures the cost of Python programs:

    an import of PyTorch, as a whole command with its report
    a path with lines of Python code
    small objects of Python, which msleaks samples

The peer is memray, which records each allocation."""
from pathlib import Path

from measure import Failed, Skipped, measured, output_of, printed_cost

HERE = Path(__file__).resolve().parent
WORKLOADS = HERE / "workloads" / "python"
PYTHON = "/usr/bin/python3"
PATH_NS, IMPORT, SMALL = 100, 1.3, 1 / 3  # goals: ns that a Python path adds, CPU of a command, part of what memray adds


class PythonCost:
    def __init__(self, bench):
        self.bench, self.table, self.check = bench, bench.table, bench.scale < 1
        self.memray = None if self.check else self.find_memray()

    def run(self):
        self.paths()
        self.objects()
        self.imports()

    def find_memray(self):
        """Returns the words that run `memray run`, or None."""
        try:
            python = output_of([HERE / "workloads" / "pytorch" / "fetch_memray.sh"], skipped=77).strip()
        except (Skipped, Failed) as reason:
            return self.table.note("Python: memray", f"not installed: {reason}")
        return [python, "-m", "memray", "run", "-q", "-f", "-o", self.bench.scratch / "memray.bin"]

    def recorded(self, cost_of, *options):
        """Returns a function that runs cost_of(words), with the words that run a Python under msleaks-run."""
        def way():
            words, folder = self.bench.session(*options)
            cost = cost_of([*words, PYTHON])
            self.bench.discard(folder)
            return cost
        return way

    def paths(self):
        """Measures a path of Python calls: the same path each time, and paths that differ in their innermost line."""
        count = self.bench.scaled(200_000)
        for lines, text in ((1, "the same line"), (64, "64 lines in turn")):
            def cost_of(words, lines=lines):
                return printed_cost(output_of([*words, "-B", WORKLOADS / "depth.py", 20, lines, count]), "pair")["cpu"]

            cost = self.bench.medians({"none": self.recorded(cost_of, "--call-stack", "none"),
                                       "all": self.recorded(cost_of, "--call-stack", "all")}, pick=min)
            self.table.add(f"Python path at depth 20, {text}, CPU: goal / added to an allocation", PATH_NS, cost["all"] - cost["none"],
                           (cost["all"] - cost["none"]) / PATH_NS, 1.0)

    def objects(self):
        count = self.bench.scaled(100_000)

        def cost_of(words):
            return printed_cost(output_of([*words, "-B", WORKLOADS / "objects.py", count]), "record")["cpu"]

        ways = {"plain": lambda: cost_of([PYTHON]),
                "off": self.recorded(cost_of, "--python-objects", "off"),
                "sample": self.recorded(cost_of, "--python-objects", "sample")}
        peers = {"memray run": [], "memray run --trace-python-allocators": ["--trace-python-allocators"]} if self.memray else {}
        for name, options in peers.items():
            ways[name] = lambda options=options: self.peer_record([*self.memray, *options], count)
        cost = self.bench.medians(ways, pick=min)
        plain = cost["plain"]
        for name in list(ways)[1:]:
            self.table.add(f"small Python objects, CPU of a record: {name} / plain", plain, cost[name], cost[name] / plain, None)
        for name in peers:
            theirs, ours = cost[name] - plain, cost["sample"] - plain
            self.table.add(f"small Python objects: added by sampling / added by {name}", theirs, ours, ours / theirs, SMALL)

    def peer_record(self, words, count):
        return printed_cost(output_of([*words, WORKLOADS / "objects.py", count]), "record")["cpu"]

    def imports(self):
        """Compares the CPU of whole commands. memray's command makes no report."""
        command = ["-c", "import torch"]
        try:
            output_of([PYTHON, *command])
        except Failed:
            self.table.note("import torch", f"skipped: {PYTHON} has no PyTorch; python3-torch brings it")
            return
        script = self.bench.scratch / "import_torch.py"
        script.write_text("import torch\n")

        def watched():
            folder = self.bench.scratch / "import"
            seconds = measured([self.bench.program("msleaks-run"), "-o", folder, "--", PYTHON, script])["cpu_s"]
            self.bench.discard(folder)
            return seconds

        ways = {"plain": lambda: measured([PYTHON, script])["cpu_s"], "msleaks-run, with its report": watched}
        if self.memray:
            ways["memray run"] = lambda: measured([*self.memray, script])["cpu_s"]
        cost = self.bench.medians(ways, pick=min)
        for name in list(ways)[1:]:
            goal = IMPORT if name.startswith("msleaks") else None
            self.table.add(f"import torch, CPU of the command: {name} / plain", cost["plain"], cost[name], cost[name] / cost["plain"], goal, "s")
