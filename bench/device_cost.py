"""What a hook adds to a call of a driver: on one that does nothing, beside the bare call."""
from measure import output_of, printed_cost

CALL_NS, LAUNCH_NS = 30, 40  # goals, beyond the bare call, without call paths
WAYS = ("none", "all")


class DeviceCost:
    def __init__(self, bench):
        self.bench = bench
        self.calls = [bench.program("bench_calls"), bench.scaled(3_000_000)]

    def run(self):
        ways = {"plain": lambda: self.costs(output_of(self.calls))}
        for way in WAYS:
            ways[way] = lambda way=way: self.costs(self.under(way))
        seen = self.bench.medians(ways)
        for way, paths in zip(WAYS, ("without call paths", "with call paths")):
            pair = (seen[way]["pair"] - seen["plain"]["pair"]) / 2
            launch = seen[way]["launch"] - seen["plain"]["launch"]
            goal = 1.0 if way == "none" else None
            self.bench.table.add(f"a hooked cudaMalloc or cudaFree, {paths}: added / goal", CALL_NS, pair, pair / CALL_NS, goal, "ns")
            self.bench.table.add(f"a hooked cudaLaunchKernel, {paths}: added / goal", LAUNCH_NS, launch, launch / LAUNCH_NS, goal, "ns")

    def under(self, way):
        text, folder = self.bench.under_session(self.calls, "--call-stack", way)
        self.bench.discard(folder)
        return text

    @staticmethod
    def costs(text):
        return {what: printed_cost(text, what)["cpu"] for what in ("pair", "launch")}
