#include "digest.h"

// Makes the header of xxHash define its functions in this file, since the runtime links against no library.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace msleaks::runtime {

uint64_t digestOf(const void *content, uint64_t bytes) noexcept { return XXH3_64bits(content, bytes); }

} // namespace msleaks::runtime
