// Announces a tensor of PyTorch in float64 (hooks/frameworks/pytorch_float64.cpp).
#pragma once

#include <cstdint>

extern "C" {
// This thread allocates a tensor of float64 with so many bytes next.
[[gnu::visibility("default")]] void __msl_torch_float64(uint64_t bytes) noexcept;
}
