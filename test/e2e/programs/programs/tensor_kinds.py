"""Trains a network with known sizes, and prints the bytes of its parameters and of one activation.

    tensor_kinds.py optimizer|forward|closure|kept|inference

optimizer: the peak is in the optimizer. forward: the peak is at the end of the forward part. closure: the same, but the optimizer calls
both parts. kept: a list keeps each loss, and so its graph. inference: no backward part.
"""
import json
import sys

import torch
from torch import nn

WIDTH, LAYERS, PASSES = 256, 4, 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)])

    def forward(self, values):
        for layer in self.layers:
            values = torch.tanh(layer(values))
        return values


def train_by_closure(net, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in batches:
        def closure():
            optimizer.zero_grad(set_to_none=True)
            loss = net(batch).mean()
            loss.backward()
            return loss
        optimizer.step(closure)


def train(net, batches, make_optimizer, losses):
    optimizer = make_optimizer(net.parameters())
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = net(batch).mean()
        loss.backward(retain_graph=losses is not None)
        optimizer.step()
        if losses is not None:
            losses.append(loss)


def main():
    mode = sys.argv[1]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, rows = Net(), 8 if mode == "optimizer" else 2048
    batches = [torch.randn(rows, WIDTH) for _ in range(PASSES)]
    if mode == "inference":
        with torch.no_grad():
            for batch in batches:
                net(batch)
    elif mode == "closure":
        train_by_closure(net, batches)
    else:
        adam = mode == "optimizer"
        train(net, batches, lambda of: torch.optim.Adam(of) if adam else torch.optim.SGD(of, lr=0.1), [] if mode == "kept" else None)
    print(json.dumps({"parameters": sum(tensor.numel() * 4 for tensor in net.parameters()), "activation": rows * WIDTH * 4}))


main()
