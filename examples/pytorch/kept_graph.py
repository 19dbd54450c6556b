#!/usr/bin/env python3
"""Trains and validates a small network with PyTorch, on the CPU. The validation has a mistake: it keeps the graph of each loss.

    kept_graph.py [--fixed]

The list `losses` should contain numbers. It contains tensors, and each tensor keeps all activations of its forward pass. With
--fixed the program keeps only the numbers.
"""
import sys

import torch
from torch import nn

FIXED = "--fixed" in sys.argv[1:]
STEPS, BATCH, SIZE = 20, 256, 512

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(SIZE, SIZE), nn.GELU(), nn.Linear(SIZE, 10))
optimizer = torch.optim.AdamW(model.parameters())
losses = []


def loss_of(inputs):
    return model(inputs).square().mean()


def train():
    loss = loss_of(torch.randn(BATCH, SIZE))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def validate():
    loss = loss_of(torch.randn(BATCH, SIZE))
    losses.append(loss.item() if FIXED else loss)


for _ in range(STEPS):
    train()
    validate()
print(f"mean loss {sum(map(float, losses)) / STEPS:.4f}")
