// XXH3, 64 bits, without a seed. Two contents with different digests differ.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

uint64_t digestOf(const void *content, uint64_t bytes) noexcept;

} // namespace msleaks::runtime
