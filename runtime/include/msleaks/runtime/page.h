// The size of the kernel's pages.
#pragma once

#include "msleaks/abi/session.h"

#include <sys/auxv.h>

namespace msleaks::runtime {

// Returns the size of the kernel's pages. On x86-64 this is a constant, since all kernels have the same page size.
inline uint64_t pageBytes() noexcept {
  if constexpr (abi::kMaxPageBytes == abi::kMinPageBytes)
    return abi::kMinPageBytes;
  else
    return ::getauxval(AT_PAGESZ);
}

} // namespace msleaks::runtime
