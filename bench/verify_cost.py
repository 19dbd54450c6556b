"""Measures the cost of the second run in which `msleaks verify` checks a finding. It uses three programs. One computes, one
makes only system calls, and one only allocates blocks that are offered to the tracer.

Also measures the second run that finds the writer of a watched block. Its cost is measured for each system call, and for
each write to the block's page."""
import json
import subprocess
import time

from measure import Failed

OFFERS, OFFERED_BYTES = 20_000, 20_000
CALLS = 500_000
WRITES = 5_000


class VerifyCost:
    def __init__(self, bench):
        self.bench = bench

    def run(self):
        self.writes()
        self.touches()

    def writes(self):
        count, program = self.bench.scaled(WRITES), self.bench.program("bench_writes")
        words, folder = self.bench.session()
        self.end_of([*words, program, "call", "0"], (0,))
        verify = [self.bench.program("msleaks"), "verify", folder, "1", "--", program]
        for what, name in (("call", "a system call while a block is watched"), ("given", "a call that is given a part of its page"),
                           ("beside", "a write on its page, beside it"), ("into", "a write into it")):
            seen = self.bench.medians({"none": lambda: self.end_of([*verify, what, "0"], (0,)), "all": lambda: self.end_of([*verify, what, count], (0,)),
                                       "alone": lambda: self.end_of([program, what, count], (0,))}, pick=min)
            alone = seen["alone"] * 1e6 / count
            ours = (seen["all"] - seen["none"]) * 1e6 / count
            self.bench.table.add(f"{name}: verify / alone", alone, ours, ours / alone, None, "us")
        self.bench.discard(folder)

    def touches(self):
        workloads = dict(self.bench.workloads())
        if "darknet" not in workloads:
            return self.bench.table.note("verify", "no darknet here")
        command = workloads["darknet"]["instrumented"].split()
        words, folder = self.bench.session("--access", "pages")
        self.end_of([*words, *command], (0,))
        finding = self.unused_in(folder)
        self.compare("darknet: verify / alone", folder, finding, command, (0,))
        calls, offers = self.bench.scaled(CALLS), self.bench.scaled(OFFERS)
        self.compare(f"{calls:,} system calls: verify / alone", folder, finding,
                     ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", f"count={calls // 2}"], (1,))
        loop = ["python3", "-c", f"for i in range({offers}): bytearray({OFFERED_BYTES})"]
        seen = self.medians(folder, finding, loop, (1,))
        each = [seconds * 1e6 / offers for seconds in (seen["alone"], seen["verify"])]
        self.bench.table.add("one block that is offered: verify / alone", *each, each[1] / each[0], None, "us")
        self.bench.discard(folder)

    def compare(self, name, folder, finding, command, statuses):
        seen = self.medians(folder, finding, command, statuses)
        self.bench.table.add(name, seen["alone"], seen["verify"], seen["verify"] / seen["alone"], None, "s")

    def medians(self, folder, finding, command, statuses):
        verify = [self.bench.program("msleaks"), "verify", folder, finding, "--", *command]
        return self.bench.medians({"alone": lambda: self.end_of(command, (0,)), "verify": lambda: self.end_of(verify, statuses)}, pick=min)

    def unused_in(self, folder):
        done = subprocess.run([self.bench.program("msleaks"), "report", folder, "--json"], stdout=subprocess.PIPE, check=False)
        for finding in json.loads(done.stdout)["findings"]:
            if finding["kind"] == "unused":
                return finding["id"]
        raise Failed("darknet has no finding 'unused'")

    def end_of(self, command, statuses):
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in statuses:
            raise Failed(f"{command}: exit {done.returncode}: {done.stderr[-300:]}")
        return time.monotonic() - begin
