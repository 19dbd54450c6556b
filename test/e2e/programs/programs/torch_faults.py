"""Trains a small network. One mistake keeps memory in each step, and --fixed mends it.

    torch_faults.py FAULT [--fixed]
"""
import functools
import gc
import sys

import torch
from torch import nn

FAULT, FIXED = sys.argv[1], "--fixed" in sys.argv[2:]
STEPS, BATCH, SIZE = 16, 256, 1024  # a tensor of BATCH × SIZE numbers has 1 MiB

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(SIZE, SIZE), nn.ReLU(), nn.Linear(SIZE, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)


def train():
    optimizer.zero_grad()
    model(torch.randn(BATCH, SIZE)).square().mean().backward()  # made here: Hook
    optimizer.step()


class Accumulated:
    """The sum of the losses keeps the graph of each."""
    total = 0

    def step(self):
        loss = model(torch.randn(BATCH, SIZE)).square().mean()  # made here: Accumulated
        self.total += loss.item() if FIXED else loss


class Stored:
    """A list of an object keeps the outputs."""
    def __init__(self):
        self.outputs = []

    def step(self):
        with torch.no_grad():
            output = torch.tanh(torch.randn(BATCH, SIZE))  # made here: Stored
        self.outputs.append(output.mean().item() if FIXED else output)


class Traceback:
    """An exception keeps its traceback, and the traceback the local variables."""
    def __init__(self):
        self.errors = []

    def step(self):
        try:
            self.fail()
        except ValueError as error:
            self.errors.append(str(error) if FIXED else error)

    def fail(self):
        batch = torch.randn(BATCH, SIZE)  # made here: Traceback
        raise ValueError(f"bad batch of {len(batch)}")


class Cycle:
    """An object refers to itself, and the collector of cycles is off."""
    def __init__(self):
        gc.disable()

    def step(self):
        state = {"batch": torch.randn(BATCH, SIZE)}  # made here: Cycle
        state["self"] = None if FIXED else state


class Hook:
    """A forward hook keeps the activations of a layer."""
    def __init__(self):
        self.activations = []
        model[0].register_forward_hook(self.keep)

    def keep(self, module, inputs, output):
        self.activations.append(output.mean().item() if FIXED else output.detach())

    def step(self):
        pass


class Cache:
    """A cache decorator on a method keeps each result."""
    def __init__(self):
        self.number = 0

    @functools.lru_cache(maxsize=1 if FIXED else None)
    def mask(self, number):
        return torch.full((BATCH, SIZE), float(number))  # made here: Cache

    def step(self):
        self.number += 1
        self.mask(self.number)


class CreateGraph:
    """A gradient that was made with create_graph refers to its parameter, and the parameter to the gradient."""
    def __init__(self):
        gc.disable()

    def step(self):
        weight = nn.Parameter(torch.randn(BATCH, SIZE))
        loss = weight.square().mean()
        if FIXED:
            torch.autograd.grad(loss, weight)
        else:
            loss.backward(create_graph=True)  # made here: CreateGraph


class KeyValues:
    """A server keeps the keys and values of finished requests."""
    def __init__(self):
        self.sessions = {}

    def step(self):
        request = len(self.sessions)
        self.sessions[request] = [torch.zeros(BATCH, SIZE)]  # made here: KeyValues
        if FIXED:
            self.sessions[request] = None


class Closure:
    """A closure keeps the inputs of later work that never runs."""
    def __init__(self):
        self.later = []

    def step(self):
        batch = torch.randn(BATCH, SIZE)  # made here: Closure
        self.later.append(len(batch) if FIXED else lambda: batch.mean())


FAULTS = {fault.__name__: fault for fault in (Accumulated, Stored, Traceback, Cycle, Hook, Cache, CreateGraph, KeyValues, Closure)}


def main():
    fault = FAULTS[FAULT]()
    for _ in range(STEPS):
        train()
        fault.step()
    print("end")


main()
