#!/usr/bin/env python3
"""Prints a C++ file that consists almost only of allocations. Compiling this file shows the cost of the plugin in the worst
case.

    generate.py [FACTOR]     3,000 x FACTOR allocations in one function, and 8,000 x FACTOR in 200 x FACTOR more
"""
import sys

HEAD = """#include <cstdlib>
#include <memory>

struct Layer { float *weights; double *gradients; int *labels; };
struct Scratch { ~Scratch(); };
void keep(void *);
"""
# The kinds of allocations, used in turns. Each one assigns a block to a member or a variable. If `new` throws, the
# exception runs the destructor of Scratch.
KINDS = ("layer->weights = static_cast<float *>(std::malloc(n * {i}));",
         "layer->gradients = new double[n + {i}];",
         "int *labels{i} = static_cast<int *>(std::calloc(n, {i})); keep(labels{i});",
         "Layer *made{i} = new Layer{{}}; keep(made{i});")


def function(name, allocations):
    lines = "\n".join("  " + KINDS[i % len(KINDS)].format(i=i) for i in range(allocations))
    return f"void {name}(Layer *layer, std::size_t n) {{\n  Scratch scratch;\n{lines}\n}}\n"


def main():
    factor = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(HEAD + function("large", int(3000 * factor)))
    for i in range(int(200 * factor)):
        print(function(f"small{i}", 40))


if __name__ == "__main__":
    main()
