// The size of the kernel's pages.
#pragma once

#include "msleaks/abi/session.h"

#include <sys/auxv.h>

namespace msleaks::runtime {

// On a processor whose kernels all have one page size, the size is known at compile time.
inline uint64_t pageBytes() noexcept {
  if constexpr (abi::kMaxPageBytes == abi::kMinPageBytes)
    return abi::kMinPageBytes;
  else
    return ::getauxval(AT_PAGESZ);
}

} // namespace msleaks::runtime
