"""Trains a small network on a GPU, with NVTX ranges. Prints how much device memory PyTorch uses, and the time of a step.
usage: train_cuda.py STEPS graph|steps
"""
import json
import sys
import time

import torch
from torch import nn

WIDTH, BATCH, WARM_UP = 2048, 256, 10
ranges = 0


def in_range(name, work):
    global ranges
    ranges += 1
    torch.cuda.nvtx.range_push(name)
    result = work()
    torch.cuda.nvtx.range_pop()
    return result


def make_step():
    torch.manual_seed(1)
    network = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]).cuda()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(BATCH, WIDTH, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = in_range("forward", lambda: network(images).square().mean())
        in_range("backward", loss.backward)
        in_range("optimizer", optimizer.step)
        return loss

    return step


def captured(step):
    """Captures a step into a CUDA graph. Returns a function that runs the graph. PyTorch requires ordinary steps before the capture."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def main():
    steps, how = int(sys.argv[1]), sys.argv[2]
    step = make_step()
    if how == "graph":
        step = captured(step)
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(), "reserved": torch.cuda.max_memory_reserved(),
                      "allocated": torch.cuda.max_memory_allocated(), "ranges": ranges, "step_ms": seconds / steps * 1e3}))


if __name__ == "__main__":
    main()
