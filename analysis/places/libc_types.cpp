#include "analysis/places/libc_types.h"

#include "analysis/base/base_name.h"

#include <fnmatch.h>
#include <string>

namespace msleaks::analysis {
namespace {

struct LibcType {
  const char *function, *type;
};

constexpr LibcType kTypes[] = {
#define MSL_LIBC_TYPE(function, type) {function, type},
#include "libc_types.def"
};

} // namespace

bool isOfLibc(const Site &call) {
  return call.origin == SiteOrigin::Hook && baseName(call.library).starts_with("libc.so");
}

std::string_view libcTypeOf(const Site &innermost, std::string_view callee) {
  const std::string inner(innermost.function), called(callee);
  for (const LibcType &row : kTypes)
    if (fnmatch(row.function, inner.c_str(), 0) == 0 || fnmatch(row.function, called.c_str(), 0) == 0)
      return row.type;
  return {};
}

} // namespace msleaks::analysis
