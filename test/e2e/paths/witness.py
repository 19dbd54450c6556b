"""Runs programs under msleaks with the library witness.c, whose functions the hooks call. Compares the call paths of a random
sample of allocations with those of libunwind."""
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from msleaks_e2e import Msleaks, check, need, run, skip  # noqa: E402

LEAST = 10_000
SEED = os.environ.get("MSLEAKS_SEED", "1")


def nowhere(_image, _share):
    return False


def in_compiled_code(image, _share):
    """Allows incomplete paths that end in code of no image. This code was compiled at run time, so it has no unwind tables."""
    return image == ""


def in_wrong_tables(image, share):
    """Allows incomplete paths that end at a call in libc, if fewer than 5 % of the paths end at this call. libc's functions for
    long multiplication (such as __mpn_mul_1, which strtod calls) have wrong unwind tables. If a timer interrupts such a function,
    libunwind continues with an arbitrary word of the stack, and msleaks ends the path."""
    return image.startswith("libc.so") and share < 0.05


class Witness:
    def __init__(self, build, scratch):
        self.msleaks, self.build, self.scratch = Msleaks(build), build, Path(scratch)
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.library = self.scratch / "libwitness.so"
        if run([need("gcc"), "-E", "-include", "libunwind.h", "-x", "c", "/dev/null"]).returncode != 0:
            skip("no libunwind.h; libunwind-dev brings it")
        made = run(["gcc", "-O2", "-g", "-shared", "-fPIC", "-fno-builtin", "-Wl,-z,now", HERE / "witness.c", "-o", self.library])
        check(made.returncode == 0, f"the witness does not compile: {made.stderr}")

    def sample(self, command, one_in, environment=None, **kwargs):
        """Runs the program once, and returns the results of compare_paths."""
        folder = self.scratch / "witnessed"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        variables = {**os.environ, **(environment or {}), "MSL_WITNESS": str(folder), "MSL_WITNESS_ONE_IN": str(one_in),
                     "MSL_WITNESS_SEED": SEED}
        options = ["--hooks", self.library, "--no-report", "--call-stack", "all:1024", "--import-paths", "whole"]
        done, report = self.msleaks.run(self.scratch / "run", command, options, env=variables, **kwargs)
        check(done.returncode == 0, f"{command}: exit status {done.returncode}\n{done.stderr}")
        report.expect_account()
        return self.compare()

    def compare(self):
        done = run([Path(self.build) / "bin/compare_paths", self.scratch / "run", self.scratch / "witnessed"])
        check(done.returncode == 0, f"compare_paths: {done.stderr}")
        return json.loads(done.stdout)

    def expect(self, name, samples, unfinished=nowhere):
        """Checks the runs of one program. No path may differ, and a path may be incomplete only where `unfinished` allows it."""
        total = {key: sum(sample[key] for sample in samples)
                 for key in ("samples", "compared", "equal", "unfinished", "beyond", "different")}
        print(f"{name:34} {total['compared']:8} {total['equal']:8} {total['unfinished']:10} {total['different']:9}", flush=True)
        for sample in samples:
            check(sample["different"] == 0, f"{name}: paths differ:\n" + "\n".join(sample["examples"]))
            check(sample["beyond"] == 0, f"{name}: finished where libunwind knows no more: {sample['ends']}")
            for place, count in sample["ends"].items():
                check(unfinished(place.split("+")[0], count / sample["compared"]), f"{name}: {count} paths end at {place}")
        check(total["samples"] == total["compared"], f"{name}: {total['samples'] - total['compared']} allocations are not in the trace")
        check(total["compared"] >= LEAST, f"{name}: only {total['compared']} allocations")
        check(total["equal"] > 0, f"{name}: no path is finished")


def print_header():
    print(f"{'program':34} {'compared':>8} {'equal':>8} {'unfinished':>10} {'different':>9}", flush=True)
