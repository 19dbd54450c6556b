#!/usr/bin/env python3
"""Runs the training of examples/pytorch for bench/run.py, and measures the time of one step.

    steps.py STEPS WARM_UP

Prints `step cpu X wall Y`: the average ms of a step over STEPS steps, after WARM_UP steps. PyTorch computes in one thread,
because several threads would spin while they wait for each other. Their time would depend on other work on the machine.
"""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "pytorch"))
import torch  # noqa: E402
from train import Training  # noqa: E402


def main():
    steps, warm_up = (int(word) for word in sys.argv[1:])
    training = Training()
    torch.set_num_threads(1)
    for _ in range(warm_up):
        training.step()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(steps):
        training.step()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"step cpu {cpu / steps * 1e3:.3f} wall {wall / steps * 1e3:.3f}")


if __name__ == "__main__":
    main()
