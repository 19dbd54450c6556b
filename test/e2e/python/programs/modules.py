"""Calls modules of a stand-in for PyTorch, and keeps a block for each call.

    modules.py ROUNDS        each round makes new modules, which use the addresses of the last ones again
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "modules"))
from torch.nn.modules.module import Module, OldModule  # noqa: E402

UNIT = 16384
kept = []
true = {}  # number of blocks by size and name


class Keep(Module):
    def forward(self, units, name):
        kept.append(bytearray(units * UNIT))
        key = f"{len(kept[-1])} {name}"
        true[key] = true.get(key, 0) + 1


class OldKeep(OldModule):
    forward = Keep.forward


class List(Module):
    def __init__(self, modules):
        super().__init__()
        for number, module in enumerate(modules):
            setattr(self, str(number), module)


class Block(Module):
    def __init__(self, names):
        super().__init__()
        for name in names:
            setattr(self, name, Keep())

    def forward(self, units, path):
        for name, module in self._modules.items():
            module(units, f"{path}.{name}")


class Net(Module):
    def __init__(self, names, blocks):
        super().__init__()
        self.layers = List([Block(names) for _ in range(blocks)])
        self.old = OldKeep()
        self.größe = Keep()
        self.experts = List([Keep() for _ in range(150)])

    def forward(self, units):
        for number, block in enumerate(self.layers._modules.values()):
            block(units, f"Net.layers.{number}")
        self.old(units, "Net.old")
        self.größe(units, "Net.größe")
        self.experts._modules["149"](units, "Net.experts.149")
        Keep()(units, "Keep")  # no module of the net
        self.attribute = units  # a new value in the dict of the module


addresses = set()
for round_number in range(int(sys.argv[1])):
    names = ["query", "key"] if round_number % 2 else ["key", "query", "value"]
    net = Net(names, 3 + round_number % 3)
    addresses.update(map(id, net.layers._modules.values()))
    for units in (5, 6):
        net(units)
    net.old(7, "OldKeep")
    del net
print(len(addresses), *[f"{count} {key}" for key, count in true.items()], sep="\n", flush=True)
os._exit(0)  # the blocks are alive at the end
