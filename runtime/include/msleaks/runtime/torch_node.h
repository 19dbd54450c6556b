// Records which node of PyTorch's backward pass a thread evaluates (hooks/frameworks/pytorch_nodes.cpp).
#pragma once

extern "C" {
// From now on, this thread evaluates the node at this address; null = none.
[[gnu::visibility("default")]] void __msl_torch_node(const void *node) noexcept;
}
