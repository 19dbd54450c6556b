#pragma once

#include <string_view>

namespace msleaks::analysis {

// "x.c" of "/src/x.c".
inline std::string_view baseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace msleaks::analysis
