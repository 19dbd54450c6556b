// The plug-in and the analysis use the same rule for code that is not the user's own.
#pragma once

#include <string_view>

namespace msleaks::abi {

// Whether a source file belongs to the compiler or the system. Such a file is below /usr/ or in a folder include/c++.
// /usr/src and /usr/local/src contain sources that users build.
constexpr bool isSystemHeader(std::string_view file) noexcept {
  if (file.find("/include/c++/") != std::string_view::npos)
    return true;
  return file.starts_with("/usr/") && !file.starts_with("/usr/src/") && !file.starts_with("/usr/local/src/");
}

static_assert(isSystemHeader("/usr/include/stdlib.h") && isSystemHeader("/usr/local/include/a.h"));
static_assert(isSystemHeader("/opt/gcc/include/c++/14/vector"));
static_assert(!isSystemHeader("/home/me/usr/a.c") && !isSystemHeader("/usr/src/app/a.c"));
static_assert(!isSystemHeader("/usr/local/src/app/a.c"));

} // namespace msleaks::abi
