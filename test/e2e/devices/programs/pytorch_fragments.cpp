// Converts a model while loading it, in the way of PyTorch on CUDA. Each file needs a large staging buffer, and a small
// tensor of it is kept behind the buffer. The larger buffers of the later work do not fit before these tensors. Built
// with -DMENDED, the program allocates the tensors first.
#include "caching_allocator.h"

#include <array>

namespace {

constexpr size_t kMiB = 1 << 20, kFiles = 8;
using Tensors = std::array<void *, kFiles>;

void load(Tensors &weights) {
  Tensors staging;
  for (size_t file = 0; file < kFiles; ++file) {
    staging[file] = c10::cuda::allocate(17 * kMiB); // staging buffer
#ifndef MENDED
    weights[file] = c10::cuda::allocate(2 * kMiB); // kept tensor
#endif
  }
  for (void *buffer : staging)
    c10::cuda::free(buffer);
}

void work() {
  Tensors caches;
  for (void *&cache : caches)
    cache = c10::cuda::allocate(18 * kMiB);
  for (void *cache : caches)
    c10::cuda::free(cache);
}

} // namespace

int main() {
  Tensors weights;
#ifdef MENDED
  for (void *&weight : weights)
    weight = c10::cuda::allocate(2 * kMiB);
#endif
  load(weights);
  work();
  for (void *weight : weights)
    c10::cuda::free(weight);
  c10::cuda::emptyCache();
}
