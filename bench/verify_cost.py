"""What a second run that verifies a finding costs: a program that computes, one that does nothing but system calls, and one
that does nothing but allocate blocks that are offered to the tracer."""
import json
import subprocess
import time

from measure import Failed

OFFERS, OFFERED_BYTES = 20_000, 20_000
CALLS = 500_000


class VerifyCost:
    def __init__(self, bench):
        self.bench = bench

    def run(self):
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
