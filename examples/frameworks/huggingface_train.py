#!/usr/bin/env python3
"""Trains a small language model with the Trainer of Hugging Face transformers, on the CPU. The weights are random, so nothing is
downloaded. MsleaksCallback reports the steps, the parts of a step and the time between steps to msleaks.

    huggingface_train.py [--fixed]

The trainer has a mistake: it keeps the logits of every batch. With --fixed it keeps only the losses.
"""
import contextlib
import sys
import tempfile

import msleaks
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

FIXED = "--fixed" in sys.argv[1:]
STEPS, BATCH, LENGTH, WORDS = 16, 8, 32, 1024


class MsleaksCallback(TrainerCallback):
    """Reports the steps of a Trainer, the two parts of each step, and an owner for the time between the steps."""

    def __init__(self):
        self.part = contextlib.ExitStack()

    def begin(self, *parts):
        self.part.close()
        for part in parts:
            self.part.enter_context(part)

    def on_step_begin(self, args, state, control, **_):
        msleaks.step(state.global_step)
        self.begin(msleaks.range("forward and backward"))

    def on_pre_optimizer_step(self, args, state, control, **_):
        self.begin(msleaks.range("optimizer"))

    def on_step_end(self, args, state, control, **_):
        self.begin(msleaks.owner("trainer@between steps"))

    def on_train_end(self, args, state, control, **_):
        self.begin()


class KeepingTrainer(Trainer):
    kept = []

    def compute_loss(self, model, inputs, return_outputs=False, **options):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **options)
        self.kept.append(loss.item() if FIXED else outputs.logits)
        return (loss, outputs) if return_outputs else loss


def main():
    torch.manual_seed(1)
    with msleaks.owner("model"):
        model = LlamaForCausalLM(LlamaConfig(vocab_size=WORDS, hidden_size=128, intermediate_size=256, num_hidden_layers=2,
                                             num_attention_heads=4, max_position_embeddings=LENGTH, pad_token_id=0))
    with msleaks.owner("data"):
        texts = torch.randint(WORDS, (STEPS * BATCH, LENGTH))
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(folder, per_device_train_batch_size=BATCH, max_steps=STEPS, use_cpu=True, disable_tqdm=True,
                                    report_to="none", save_strategy="no", logging_strategy="no")
        trainer = KeepingTrainer(model, options, train_dataset=[{"input_ids": text, "labels": text} for text in texts],
                                 callbacks=[MsleaksCallback()])
        trainer.remove_callback(PrinterCallback)  # its output contains times
        result = trainer.train()
    print(f"{result.global_step} steps, mean loss {result.training_loss:.3f}")


if __name__ == "__main__":
    main()
