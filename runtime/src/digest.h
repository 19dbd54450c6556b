// Computes the digest of a block's content: XXH3 with 64 bits and no seed. If two digests differ, the contents differ.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

uint64_t digestOf(const void *content, uint64_t bytes) noexcept;

} // namespace msleaks::runtime
