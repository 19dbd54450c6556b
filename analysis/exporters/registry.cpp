#include "analysis/exporters/registry.h"

#include <fmt/format.h>

namespace msleaks::analysis::inline exporters {

#define MSL_ENTRY(stem) Format makeFormat_##stem();
#include "exporters.inc"
#undef MSL_ENTRY

std::vector<Format> formats() {
  return {
#define MSL_ENTRY(stem) makeFormat_##stem(),
#include "exporters.inc"
#undef MSL_ENTRY
  };
}

Result<Format> formatOf(std::string_view name) {
  std::string names;
  for (const Format &format : formats()) {
    if (format.name == name)
      return format;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return fail(fmt::format("there is no format '{}'; there are {}", name, names), ExitStatus::Usage);
}

} // namespace msleaks::analysis::inline exporters
