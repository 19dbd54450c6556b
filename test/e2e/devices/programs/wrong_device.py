"""Trains a small model on the processor, and copies tensors to a device as `tensor.to(device)` does. A mask stays in host memory, so each
step copies it. With "fixed", it is copied once. Other tensors are copied, too: the batch of each step, and pinned memory.

    wrong_device.py CUDART [fixed]
"""
import ctypes
import sys

import torch

STEPS, SIZE, HOST_TO_DEVICE = 12, 512, 1
cudart = ctypes.CDLL(sys.argv[1])
cudart.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
cudart.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
cudart.cudaFree.argtypes = [ctypes.c_void_p]


def to_device(tensor):
    device, size = ctypes.c_void_p(), tensor.numel() * tensor.element_size()
    assert cudart.cudaMalloc(device, size) == 0
    assert cudart.cudaMemcpy(device, tensor.data_ptr(), size, HOST_TO_DEVICE) == 0
    return device


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(SIZE, SIZE)
        self.mask = torch.ones(SIZE, SIZE).tril()  # made here
        self.on_device = to_device(self.mask) if len(sys.argv) > 2 else None

    def forward(self, batch):
        if self.on_device is None:
            cudart.cudaFree(to_device(self.mask))
        return self.linear(batch) @ self.mask


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(STEPS):
    batch = torch.randn(SIZE, SIZE)
    on_device = to_device(batch)
    net(batch).square().mean().backward()
    optimizer.step()
    cudart.cudaFree(on_device)
print("trained")
