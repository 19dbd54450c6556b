"""Trains a network whose layers have different sizes, and prints the bytes of the gradients of each module.

    torch_backward.py plain|twice|checkpoint|failing|kept

plain: one backward pass in each step. twice: the pass computes a derivative of gradients, too. checkpoint: the pass runs the forward
part of each layer again. failing: a backward pass fails before the others. kept: a list keeps the gradients of each step.
"""
import json
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

MODE, STEPS, BATCH, ROWS = sys.argv[1], 6, 4, 256
WIDTHS = (128, 512, 256, 1024, 192, 640)
# Leaves room in Python's arenas. Otherwise, a layer may be the one whose objects need another arena of 1 MiB.
ROOM = [bytes(400) for _ in range(20_000)][::1000]


class Scaled(torch.autograd.Function):
    """A function with a backward part in Python."""
    @staticmethod
    def forward(context, values, factors):
        context.save_for_backward(values, factors)
        return values * factors

    @staticmethod
    def backward(context, gradient):
        values, factors = context.saved_tensors
        return (gradient * factors).sum(0), gradient * values


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        return values.clone()

    @staticmethod
    def backward(context, gradient):
        raise ValueError("this pass fails")


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factors = nn.Parameter(torch.ones(ROWS, width))

    def forward(self, values):
        return Scaled.apply(values.sum(0), self.factors)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(*pair) for pair in zip(WIDTHS, WIDTHS[1:])])
        self.scale = Scale(WIDTHS[-1])

    def forward(self, values):
        for layer in self.layers:
            values = checkpoint(layer, values, use_reentrant=True) if MODE == "checkpoint" else layer(values)  # the forward line
            values = torch.tanh(values)
        return self.scale(values)


def loss_of(net, values):
    output = net(values).square().mean()
    if MODE != "twice":
        return output
    gradient, = torch.autograd.grad(output, values, create_graph=True)
    return output + gradient.square().sum()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net()
    if MODE == "failing":
        try:
            Failing.apply(net(torch.randn(BATCH, WIDTHS[0]))).sum().backward()
        except ValueError:
            pass
    optimizer, kept = torch.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        loss_of(net, torch.randn(BATCH, WIDTHS[0], requires_grad=True)).backward()  # the backward line
        optimizer.step()
        if MODE == "kept":
            kept.append([tensor.grad for tensor in net.parameters()])
    modules = {f"Net.{name}": module for name, module in net.named_modules() if name and name != "layers"}
    print(json.dumps({name: sum(4 * tensor.grad.numel() for tensor in module.parameters()) for name, module in modules.items()}))


main()
