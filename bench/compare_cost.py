"""Measures msleaks compare: it aligns two sequences of launches, which GNU diff aligns too, and compares two results."""
import json
import random
import shutil

from measure import Failed, measured, output_of

SECONDS, KIB = 2.0, 500 * 1024  # goals: time and memory of the alignment
KERNELS = 60


class CompareCost:
    def __init__(self, bench):
        self.bench = bench
        self.launches = 1_000_000 if bench.scale >= 1 else 10_000
        self.edits = self.launches // 1000

    def run(self):
        first, second = self.bench.scratch / "launches-a", self.bench.scratch / "launches-b"
        self.write(first, second)
        ours = [self.bench.program("bench_aligning"), first, second]
        ways = {"ours": lambda: measured(ours)}
        diff = shutil.which("diff")
        if diff:
            ways["diff"] = lambda: measured([diff, first, second], passing=(1,))
        else:
            self.bench.table.note("compare: GNU diff", "not installed")
        cost = self.bench.medians(ways)
        name = f"{self.launches:,} against {self.launches:,} launches with {self.edits:,} edits"
        seconds, kib = cost["ours"]["wall_s"], cost["ours"]["peak_kib"]
        self.bench.table.add(f"compare, {name}: time / goal", SECONDS, seconds, seconds / SECONDS, 1.0, "s")
        self.bench.table.add(f"compare, {name}: memory / goal", KIB / 1024, kib / 1024, kib / KIB, 1.0, "MiB")
        self.dumps(name, first, second)
        self.results()
        if diff:
            self.bench.table.add(f"compare, {name}: time, ours / GNU diff", cost["diff"]["wall_s"], seconds, seconds / cost["diff"]["wall_s"], None, "s")
            self.differing(diff, ours, first, second)

    def dumps(self, name, *sequences):
        """Measures `msleaks compare` of two dumps with these launches: reading, alignment, and the written file. Uses the time of the
        processor, because other work on the machine delays the reading of the files."""
        dumps = [self.dump(sequence) for sequence in sequences]
        command = [self.bench.program("msleaks"), "compare", *dumps, "--policy", "msmemscope", "-o", self.bench.scratch / "compared"]
        cost = self.bench.medians({"whole": lambda: measured(command, passing=(1,))})["whole"]
        self.bench.table.add(f"msleaks compare, two dumps, {name}: CPU / goal", SECONDS, cost["cpu_s"], cost["cpu_s"] / SECONDS, 1.0, "s")
        self.bench.table.add(f"msleaks compare, two dumps, {name}: memory / goal", KIB / 1024, cost["peak_kib"] / 1024,
                             cost["peak_kib"] / KIB, 1.0, "MiB")

    def dump(self, sequence):
        """Writes a dump of msMemScope with these launches. A part of them is followed by an allocation of the pool."""
        dump = sequence.with_suffix(".csv")
        with open(sequence) as names, open(dump, "w") as out:
            out.write("ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call Stack(C)\n")
            for number, name in enumerate(names):
                out.write(f'{number},KERNEL_LAUNCH,KERNEL_LAUNCH,{name.strip()},{100 * number},7,7,0,N/A,"{{streamId:2,taskId:1}}",,\n')
                if number % 3 == 0:
                    out.write(f'{number},MALLOC,PTA,N/A,{100 * number + 1},7,7,0,0x10,"{{addr:16,size:{512 * (number % 7 + 1)},used:2}}",,\n')
        return dump

    def results(self):
        """Measures `msleaks compare` of two result files with 100,000 places, which it reads, pairs and prints."""
        places = self.launches // 10
        files = [self.result(name, places, moved) for name, moved in (("result-a", 0), ("result-b", 5))]
        command = [self.bench.program("msleaks"), "compare", *files]
        cost = self.bench.medians({"whole": lambda: measured(command, passing=(1,))})["whole"]
        self.bench.table.add(f"msleaks compare, two results with {places:,} places: CPU / goal", 1.0, cost["cpu_s"], cost["cpu_s"], 1.0, "s")

    def result(self, name, places, moved):
        """Writes a result file. Adds `moved` to each line number. If `moved` is not 0, every 997th place has more bytes."""
        lines = [{"site": {"file": f"src/f{i % 1000}.cpp", "line": i // 1000 * 3 + 1 + moved, "column": 7, "function": f"fn{i // 7}",
                           "variable": f"v{i % 5}", "type": "char", "origin": "pass", "library": "/bin/net", "inlined_at": []},
                  "bytes": 1000 + i + 1000 * moved * (i % 997 == 0), "count": 1 + i % 3, "own": True, "paths": []}
                 for i in range(places)]
        path = self.bench.scratch / f"{name}.json"
        path.write_text(json.dumps({"version": 1, "run": name, "session": {"command": ["net"]},
                                    "peak": {"bytes": sum(line["bytes"] for line in lines), "by_site": lines}}))
        return path

    def differing(self, diff, ours, first, second):
        """Notes how many names msleaks and GNU diff find in one file only. Fails if msleaks finds more than GNU diff."""
        script = output_of(["sh", "-c", f"{diff} {first} {second} | grep -c '^[<>]'"])
        found, least = int(output_of(ours)), int(script)
        if found > least:
            raise Failed(f"bench_aligning finds {found} differing names, GNU diff only {least}")
        self.bench.table.note("compare: names in one sequence only", f"ours {found:,}, GNU diff {least:,}")

    def write(self, first, second):
        """Writes the names of both sequences. Kernels are launched in layers, as a training launches them."""
        pick = random.Random(31)
        layers = [[f"kernel_{pick.randrange(KERNELS)}_of_layer" for _ in range(pick.randrange(8, 40))] for _ in range(24)]
        names = []
        while len(names) < self.launches:
            names += layers[pick.randrange(len(layers))]
        names = names[:self.launches]
        first.write_text("\n".join(names) + "\n")
        for number in range(self.edits):
            at = pick.randrange(len(names))
            if number % 3 == 0:
                names[at] = f"kernel_{pick.randrange(KERNELS)}_of_layer"
            elif number % 3 == 1:
                del names[at]
            else:
                names.insert(at, f"kernel_{pick.randrange(KERNELS)}_of_layer")
        second.write_text("\n".join(names) + "\n")
