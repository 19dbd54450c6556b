#include "analysis/findings/advice_words.h"

#include "analysis/base/base_name.h"
#include "analysis/places/function_name.h"

#include <fmt/format.h>

namespace msleaks::analysis {

std::string functionIn(const SiteText &site) {
  if (!site.function.empty())
    return fmt::format("`{}`", briefName(site.function));
  if (!site.file.empty())
    return fmt::format("the code at {}:{}", baseName(site.file), site.line);
  return site.library.empty() ? "its caller" : fmt::format("the code at {}+{:#x}", baseName(site.library), site.offset);
}

std::string thingOf(const Finding &finding) {
  if (!finding.site.variable.empty())
    return fmt::format("`{}`", finding.site.variable);
  return finding.count == 1 ? "this block" : "these blocks";
}

std::string pronounOf(const Finding &finding) { return finding.count == 1 ? "it" : "them"; }

} // namespace msleaks::analysis
