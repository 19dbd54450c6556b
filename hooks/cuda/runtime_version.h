// Some functions of CUDA's runtime library have other parameters since version 13, under the same name.
#pragma once

#include "host/real.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace msleaks::hooks {

// Whether the function is in a library of an earlier version.
inline bool isBefore13(const void *function) {
  static std::atomic<const void *> before, since; // the last answers: dladdr takes a lock
  if (function == before.load(std::memory_order_relaxed) || function == since.load(std::memory_order_relaxed))
    return function == before.load(std::memory_order_relaxed);
  const char *path = nullptr;
  const char *version = imageOf(function, &path) != nullptr && path != nullptr ? std::strstr(path, ".so.") : nullptr;
  const bool is_before = version != nullptr && std::strtol(version + 4, nullptr, 10) < 13;
  (is_before ? before : since).store(function, std::memory_order_relaxed);
  return is_before;
}

} // namespace msleaks::hooks
