#pragma once

#include <string_view>

namespace msleaks::analysis {

// "x.c" of "/src/x.c".
inline std::string_view baseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "libcudart" of "/opt/libcudart-d0da41ae.so.11.0". A library's file has another name in each version, and packages of
// Python put a hash into it.
inline std::string_view libraryName(std::string_view path) {
  constexpr size_t kHashDigits = 8;
  std::string_view name = baseName(path);
  name = name.substr(0, name.find(".so"));
  const size_t dash = name.rfind('-');
  const bool has_hash = dash != std::string_view::npos && name.size() - dash - 1 == kHashDigits &&
                        name.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
  return has_hash ? name.substr(0, dash) : name;
}

} // namespace msleaks::analysis
