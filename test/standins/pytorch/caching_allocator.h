// Imitates PyTorch's caching allocator for CUDA: tensors are parts of segments that the driver allocates.
#pragma once

#include <cstddef>

namespace c10::cuda {

void *allocate(size_t bytes); // the part's size is a multiple of 512 bytes
void free(void *);
void emptyCache(); // frees the segments without parts

} // namespace c10::cuda
