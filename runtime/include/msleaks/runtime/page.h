// Returns the size of the kernel's pages.
#pragma once

#include "msleaks/abi/session.h"

#include <sys/auxv.h>

namespace msleaks::runtime {

// On x86-64 all kernels have the same page size, so the size is a constant.
inline uint64_t pageBytes() noexcept {
  if constexpr (abi::kMaxPageBytes == abi::kMinPageBytes)
    return abi::kMinPageBytes;
  else
    return ::getauxval(AT_PAGESZ);
}

} // namespace msleaks::runtime
