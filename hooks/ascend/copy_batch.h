// The body of the hooks of ACL's functions that make several copies in one call. Each destination has an upper limit.
#pragma once

#include "devices/batches.h"

namespace msleaks::hooks {

inline constexpr auto kCopyBatch = [](auto real, void *caller, void **to, size_t *most, void **from, size_t *bytes,
                                      size_t count, void *attributes, size_t *indices, size_t attribute_count,
                                      size_t *failed, auto... stream) {
  const auto as_given = [&] {
    return real(to, most, from, bytes, count, attributes, indices, attribute_count, failed, stream...);
  };
  return copyLists<abi::Family::Acl>(as_given, caller, to, from, bytes, count, stream...);
};

} // namespace msleaks::hooks

#define MSL_COPY_BATCH(...)                                                                                            \
  (void **, size_t *, void **, size_t *, size_t, void *, size_t *, size_t, size_t *__VA_ARGS__)
