#include "analysis/findings/use_line.h"

#include "analysis/base/base_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace msleaks::analysis {

std::string lineOf(SiteId use, Conclusion &conclusion) {
  if (use == SiteId{})
    return {};
  constexpr size_t kMostLines = 2;
  std::vector<std::string> lines;
  const auto add = [&](const SiteText &site) {
    std::string line = site.file.empty() ? site.function : fmt::format("{}:{}", baseName(site.file), site.line);
    if (!line.empty() && lines.size() < kMostLines && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  };
  add(textOf(conclusion.catalog, conclusion.lines.places().of(use)));
  for (const SiteId call : shownPath(conclusion.catalog, use).calls)
    if (const SiteText site = textOf(conclusion.catalog.describe(call)); !isSystemImage(site.library))
      add(site);
  return fmt::format("{}", fmt::join(lines, " < "));
}

std::string lineOf(const SiteText &place) {
  return place.file.empty() ? fmt::format("{}+{:#x}", place.library, place.offset)
                            : fmt::format("{}:{}", place.file, place.line);
}

void addLine(Evidence &evidence, const char *name, SiteId use, Conclusion &conclusion) {
  if (std::string line = lineOf(use, conclusion); !line.empty())
    evidence.emplace_back(name, std::move(line));
}

} // namespace msleaks::analysis
