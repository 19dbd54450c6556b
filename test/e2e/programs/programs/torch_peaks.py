"""Trains a small network. One mistake decides the peak of the memory, and --fixed mends it.

    torch_peaks.py FAULT [--fixed]
"""
import os
import sys
import tempfile

import numpy
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

FAULT, FIXED = sys.argv[1], "--fixed" in sys.argv[2:]
STEPS, BATCH, SIZE, LAYERS = 6, 64, 1024, 8  # a layer has 4 MiB

torch.manual_seed(1)


def network():
    return nn.Sequential(*[nn.Linear(SIZE, SIZE) for _ in range(LAYERS)])


def train(model, optimizer, batch=BATCH):
    optimizer.zero_grad()
    model(torch.randn(batch, SIZE)).square().mean().backward()  # made here: FirstBatch
    optimizer.step()  # made here: Optimizers, made here: Unfrozen


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.001)


class Checkpoint:
    """The tensors of a checkpoint stay alive beside the parameters that have got their values."""
    def main(self, file):
        torch.save(network().state_dict(), file)
        model = network()
        state = torch.load(file)  # made here: Checkpoint
        model.load_state_dict(state)
        if FIXED:
            del state
        optimizer = sgd(model)
        for _ in range(STEPS):
            train(model, optimizer)


class Arrays:
    """The same, with arrays of NumPy."""
    def main(self, file):
        with open(file, "wb") as stream:
            numpy.savez(stream, **{name: tensor.numpy() for name, tensor in network().state_dict().items()})
        model = network()
        with numpy.load(file) as arrays:
            state = {name: arrays[name] for name in arrays}  # made here: Arrays
        model.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
        if FIXED:
            state = None
        optimizer = sgd(model)
        for _ in range(STEPS):
            train(model, optimizer)


class Resumed:
    """The same, with the state of an optimizer. It is copied, or the optimizer goes on to use it, by PyTorch's version."""
    def main(self, file):
        self.write(file)
        model = network()
        optimizer = self.optimizer(model)
        state = torch.load(file)  # made here: Resumed
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        if FIXED:
            del state
        for _ in range(STEPS // 2):
            train(model, optimizer, 16 * BATCH)

    def write(self, file):
        model = network()
        optimizer = self.optimizer(model)
        train(model, optimizer)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)

    def optimizer(self, model):
        return torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)


class Optimizers:
    """An optimizer for each epoch, and a list keeps them all."""
    def main(self, file):
        model, schedulers = network(), []
        for _ in range(2):
            if FIXED:
                schedulers.clear()
            optimizer = None
            optimizer = torch.optim.Adam(model.parameters())
            schedulers.append(torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9))
            for _ in range(STEPS // 2):
                train(model, optimizer)
            schedulers[-1].step()


class Unfrozen:
    """A new optimizer for layers that learn only from now on. The old optimizer is still there."""
    def main(self, file):
        model = network()
        first, others = model[LAYERS // 2:], model[:LAYERS // 2]
        others.requires_grad_(False)
        optimizer = first_optimizer = torch.optim.Adam(first.parameters())
        for _ in range(STEPS // 2):
            train(model, optimizer)
        others.requires_grad_(True)
        if FIXED:
            optimizer.add_param_group({"params": list(others.parameters())})
        else:
            optimizer = torch.optim.Adam(model.parameters())
        for _ in range(STEPS // 2):
            train(model, optimizer)
        first_optimizer.zero_grad()


class FirstBatch:
    """The first batch is much larger than the others."""
    def main(self, file):
        model = network()
        optimizer = sgd(model)
        train(model, optimizer, BATCH if FIXED else 32 * BATCH)
        for _ in range(STEPS):
            train(model, optimizer)


class WarmUp:
    """Only the first step tries several algorithms, and keeps the buffers of all until it has chosen one."""
    def main(self, file):
        model = network()
        optimizer = sgd(model)
        for step in range(STEPS):
            if step == 0:
                self.choose(model)
            train(model, optimizer)

    def choose(self, model):
        buffers = []
        for _ in range(16):
            buffers.append(torch.zeros(2 * SIZE, SIZE))  # made here: WarmUp
            if FIXED:
                buffers.clear()


class Block(nn.Module):
    """A layer of a transformer without its attention."""
    def __init__(self, width):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def forward(self, batch):
        return batch + self.down(self.act(self.up(batch)))  # made here: Activations


class Blocks(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList([Block(width) for _ in range(LAYERS)])

    def forward(self, batch):
        for layer in self.layers:
            batch = checkpoint(layer, batch, use_reentrant=False) if FIXED else layer(batch)
        return batch


class Activations:
    """The activations of all layers are alive at the begin of the backward part."""
    def main(self, file):
        width = SIZE // 8
        model = Blocks(width)
        optimizer = sgd(model)
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(torch.randn(32 * BATCH, width)).square().mean().backward()
            optimizer.step()


class Float64:
    """NumPy's numbers are float64, and so is what operators make of them."""
    def main(self, file):
        numbers = numpy.random.default_rng(1).random((64 * BATCH, SIZE))
        data = torch.tensor(numbers, dtype=torch.float32 if FIXED else None)  # made here: Float64
        model = nn.Linear(SIZE, SIZE)
        optimizer = sgd(model)
        for _ in range(STEPS):
            optimizer.zero_grad()
            scaled = data * torch.rand(SIZE)
            model(scaled[:BATCH].float()).square().mean().backward()
            optimizer.step()


class Shapes:
    """oneDNN makes code for each new shape of a convolution's input, and keeps it."""
    def main(self, file):
        model = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(8)])
        optimizer = sgd(model)
        for step in range(5 * STEPS):
            size = 64 if FIXED else 65 - 5 * STEPS + step  # both have 64 in the last step, at the peak
            images = torch.randn(1, 16, size, size)
            optimizer.zero_grad()
            model(images).square().mean().backward()  # made here: Shapes
            optimizer.step()


FAULTS = {fault.__name__: fault
          for fault in (Checkpoint, Arrays, Resumed, Optimizers, Unfrozen, FirstBatch, WarmUp, Activations, Float64, Shapes)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        FAULTS[FAULT]().main(os.path.join(folder, "file"))
    print("end")


main()
