"""Lists programs whose allocations the optimiser changes. The report must still have the variable and type of each block."""
from collections import Counter

from case import Case


def named(wanted):
    """Returns a check of the leaks that the plugin recorded. `wanted` is {(function, variable, type): bytes}."""

    def compare(mode, report, failures):
        if mode != "armed":
            return
        marked = Counter()
        for row in report["leaks"]["by_site"]:
            allocator = row["allocator"]
            if row["paths"][0]["frames"][0]["origin"] == "pass":
                marked[row["site"]["function"].split("(")[0], allocator["variable"], allocator["type"]] += row["bytes"]
        failures.expect(marked == wanted, f"{mode}: names", f"{dict(marked)}, not {wanted}")

    return compare


INLINED = named({("plainly", "made", "Foo"): 16, ("guarded", "made", "Foo"): 16, ("values", "many", "std::vector<float, std::allocator<float> >"): 24,
                 ("values", None, "float"): 400})
FOLDED = named({("zeroed", "layer->output", "float"): 40, ("tested", "weights", "float"): 80, ("grown", "layer->output", "float"): 120,
                ("either", "layer->output", "float"): 17})


def names(source, optimisation, check):
    compiler = "$CC -std=gnu17" if source.endswith(".c") else "$CXX -std=c++20"
    return Case(f"{source.split('.')[0]}{optimisation}", recipe=f"{compiler} -g -w {optimisation} $SRC/{source} -o prog",
                leaks="printed", by_pass=False, check=check)



CASES = [
    *(names("names_inlined.cpp", level, INLINED) for level in ("-O0", "-O1", "-O2", "-O3")),
    *(names("names_folded.c", level, FOLDED) for level in ("-O0", "-O1", "-O2")),
]
