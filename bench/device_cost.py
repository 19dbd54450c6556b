"""Measures the time that a hook adds to a call of a driver, also while recording is stopped. The drivers are stand-ins that do
nothing, and PoCL."""
from measure import output_of, printed_cost

ALLOCATION_NS, LAUNCH_NS = 30, 40  # goals: the time that the hook may add to a call, without call paths
WAYS = {"without call paths": ("--call-stack", "none"), "with call paths": ("--call-stack", "all"), "stopped": ("--start-paused",)}
# For each word that bench_calls prints: the names of the called functions, the number of calls in the printed time, and
# the goal.
CALLS = {"pair": ("cudaMalloc or cudaFree", 2, ALLOCATION_NS), "launch": ("cudaLaunchKernel", 1, LAUNCH_NS),
         "hal": ("halMemAlloc or halMemFree", 2, ALLOCATION_NS), "cl": ("clCreateBuffer or clReleaseMemObject of PoCL", 2, ALLOCATION_NS)}
# PoCL itself calls malloc, which is recorded with and without a hook of OpenCL. So the baseline of a hooked call is the
# vendor's own function under msleaks-run: it has no hook of OpenCL, but its malloc is recorded.
BARE = {"cl": "vendor"}


class DeviceCost:
    def __init__(self, bench):
        self.bench = bench
        self.calls = [bench.program("bench_calls"), bench.scaled(3_000_000)]

    def run(self):
        ways = {"plain": lambda: self.costs(output_of(self.calls))}
        for way, options in WAYS.items():
            ways[way] = lambda options=options: self.costs(self.under(options))
        seen = self.bench.medians(ways)
        for what in CALLS:
            for way in WAYS:
                if what in seen["plain"]:
                    self.compare(what, way, seen["plain"][what], seen[way][what], seen[way if what in BARE else "plain"][BARE.get(what, what)])

    def compare(self, what, way, plain, hooked, bare):
        """Adds a row to the table. `plain` is the time of a call without msleaks-run, and `hooked` the time under msleaks-run.
        `bare` is the time without the hook: `plain`, or for the calls in BARE the time under msleaks-run. `hooked` minus `bare`
        is compared with the goal."""
        name, calls, goal_ns = CALLS[what]
        if way == "stopped" or what in BARE:
            self.bench.table.add(f"a hooked {name}, {way}: with / without", plain / calls, hooked / calls, hooked / plain, None, "ns")
        if way != "stopped":
            added = (hooked - bare) / calls
            goal = 1.0 if way == "without call paths" else None
            self.bench.table.add(f"a hooked {name}, {way}: added / goal", goal_ns, added, added / goal_ns, goal, "ns")

    def under(self, options):
        text, folder = self.bench.under_session(self.calls, *options)
        self.bench.discard(folder)
        return text

    @staticmethod
    def costs(text):
        return {what: printed_cost(text, what)["cpu"] for what in [*CALLS, *BARE.values()] if f"{what} cpu " in text}
