"""Calls a compiled function with changing shapes. PyTorch compiles it for each shape. With --fixed, it compiles it for all shapes.

    torch_compile.py [--fixed]
"""
import sys

import torch

SHAPES, STEPS, WIDTH = 5, 15, 64


def loss(batch, weight):
    return (batch @ weight).relu().square().mean()


def main():
    torch.manual_seed(1)
    weight = torch.randn(WIDTH, WIDTH)
    compiled = torch.compile(loss, backend="eager", dynamic="--fixed" in sys.argv[1:])
    for step in range(STEPS):
        compiled(torch.randn(8 + step % SHAPES, WIDTH), weight)  # compiled here
    print("end")


main()
