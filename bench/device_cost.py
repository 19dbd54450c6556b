"""What a hook adds to a call of a driver: on ones that do nothing, beside the bare call, and on PoCL. With recording stopped, too."""
from measure import output_of, printed_cost

ALLOCATION_NS, LAUNCH_NS = 30, 40  # goals, beyond the bare call, without call paths
WAYS = {"without call paths": ("--call-stack", "none"), "with call paths": ("--call-stack", "all"), "stopped": ("--start-paused",)}
# as bench_calls prints it: what is called, how many calls it is, what one may cost
CALLS = {"pair": ("cudaMalloc or cudaFree", 2, ALLOCATION_NS), "launch": ("cudaLaunchKernel", 1, LAUNCH_NS),
         "hal": ("halMemAlloc or halMemFree", 2, ALLOCATION_NS), "cl": ("clCreateBuffer or clReleaseMemObject of PoCL", 2, None)}


class DeviceCost:
    def __init__(self, bench):
        self.bench = bench
        self.calls = [bench.program("bench_calls"), bench.scaled(3_000_000)]

    def run(self):
        ways = {"plain": lambda: self.costs(output_of(self.calls))}
        for way, options in WAYS.items():
            ways[way] = lambda options=options: self.costs(self.under(options))
        seen = self.bench.medians(ways)
        for what in seen["plain"]:
            for way in WAYS:
                self.compare(what, way, seen["plain"][what], seen[way][what])

    def compare(self, what, way, plain, hooked):
        """Against the goal for what it adds, or against the bare call where there is none."""
        name, calls, goal_ns = CALLS[what]
        added = (hooked - plain) / calls
        if goal_ns is None or way == "stopped":
            self.bench.table.add(f"a hooked {name}, {way}: with / without", plain / calls, hooked / calls, hooked / plain, None, "ns")
        else:
            goal = 1.0 if way == "without call paths" else None
            self.bench.table.add(f"a hooked {name}, {way}: added / goal", goal_ns, added, added / goal_ns, goal, "ns")

    def under(self, options):
        text, folder = self.bench.under_session(self.calls, *options)
        self.bench.discard(folder)
        return text

    @staticmethod
    def costs(text):
        return {what: printed_cost(text, what)["cpu"] for what in CALLS if f"{what} cpu " in text}
