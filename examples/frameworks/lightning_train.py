#!/usr/bin/env python3
"""Trains a small network with PyTorch Lightning, on the CPU. MsleaksCallback reports the steps, the parts of a step and the memory of
the validation to msleaks.

    lightning_train.py [--fixed]

The module has a mistake: it keeps the outputs of every step, and nothing clears the list. With --fixed, the end of an epoch does.
"""
import contextlib
import logging
import sys
import warnings

import msleaks
import torch
from lightning import Callback, LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader

FIXED = "--fixed" in sys.argv[1:]
EPOCHS, BATCHES, BATCH, SIZE = 4, 5, 256, 512


class MsleaksCallback(Callback):
    """Reports the steps of a Trainer, the parts of each step, and an owner for the time between the steps."""

    def __init__(self):
        self.part = contextlib.ExitStack()

    def begin(self, *parts):
        self.part.close()
        for part in parts:
            self.part.enter_context(part)

    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        msleaks.step(trainer.global_step)
        self.begin(msleaks.range("forward"))

    def on_before_backward(self, trainer, module, loss):
        self.begin(msleaks.range("backward"))

    def on_before_optimizer_step(self, trainer, module, optimizer):
        self.begin(msleaks.range("optimizer"))

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.begin(msleaks.owner("trainer@between steps"))

    def on_validation_start(self, trainer, module):
        self.begin(msleaks.range("validation"), msleaks.owner("trainer@validation"))

    def on_validation_end(self, trainer, module):
        self.begin()


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        with msleaks.owner("net@weights"):
            self.layers = nn.Sequential(nn.Linear(SIZE, SIZE), nn.GELU(), nn.Linear(SIZE, SIZE))
        self.outputs = []

    def training_step(self, batch, index):
        with msleaks.owner("net@forward"):
            output = self.layers(batch)
        self.outputs.append(output.detach())
        return nn.functional.mse_loss(output, batch)

    def validation_step(self, batch, index):
        self.log("loss", nn.functional.mse_loss(self.layers(batch), batch))

    def on_train_epoch_end(self):
        if FIXED:
            self.outputs.clear()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main():
    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(1)
    with msleaks.owner("data"):
        batches = torch.randn(BATCHES * BATCH, SIZE)
    net = Net()
    trainer = Trainer(accelerator="cpu", max_epochs=EPOCHS, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, callbacks=[MsleaksCallback()])
    trainer.fit(net, DataLoader(batches, batch_size=BATCH), DataLoader(batches[:BATCH], batch_size=BATCH))
    print(f"{trainer.global_step} steps, loss {trainer.callback_metrics['loss']:.3f}")


if __name__ == "__main__":
    main()
