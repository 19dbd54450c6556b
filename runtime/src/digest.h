// XXH3, 64 bits, without a seed: what of two contents differs can be told by their digests alone.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

uint64_t digestOf(const void *content, uint64_t bytes) noexcept;

} // namespace msleaks::runtime
