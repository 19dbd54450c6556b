#!/usr/bin/env python3
"""Trains a small convolutional network on generated images with PyTorch, on the CPU.

    train.py [--steps N]

The program does not use msleaks. `msleaks-run -- python3 train.py` shows where PyTorch's libraries and the interpreter allocate
memory. The program runs with PyTorch 1.13 and later. All runs with one version on one machine print the same text.
"""
import argparse

import torch
from torch import nn

BATCH, CLASSES, SIZE = 64, 10, 16


def generated_images(generator):
    """Returns a batch of noisy images, and the class of each image. One square of an image is bright; its position depends on
    the class."""
    labels = torch.randint(CLASSES, (BATCH,), generator=generator)
    images = torch.randn(BATCH, 1, SIZE, SIZE, generator=generator)
    for image, label in zip(images, labels.tolist()):
        row, column = divmod(label, 4)
        image[0, row * 4 : row * 4 + 4, column * 4 : column * 4 + 4] += 1
    return images, labels


def make_network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * (SIZE // 2) ** 2, CLASSES),
    )


class Training:
    def __init__(self):
        torch.manual_seed(1)
        torch.set_num_threads(2)
        self.generator = torch.Generator().manual_seed(2)
        self.network = make_network()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.05, momentum=0.9)

    def step(self):
        images, labels = generated_images(self.generator)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.network(images), labels)
        loss.backward()
        self.optimizer.step()
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    steps = parser.parse_args().steps

    training = Training()
    for step in range(steps):
        loss = training.step()
        if step % 10 == 0 or step == steps - 1:
            print(f"step {step:4}  loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
