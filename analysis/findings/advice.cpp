#include "analysis/findings/advice.h"

#include "analysis/base/text.h"
#include "analysis/places/function_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace msleaks::analysis::inline findings {

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

namespace {

std::string offsetText(uint64_t offset) { return offset == 0 ? std::string() : fmt::format(" +{}", offset); }

// "+16", and the member at this offset, if the type and its layout are known.
std::string memberText(std::string_view library, std::string_view type, uint64_t offset, Conclusion &conclusion) {
  const std::string member = type.empty() ? std::string() : conclusion.catalog.memberAt(library, type, offset);
  return member.empty() ? offsetText(offset) : fmt::format(" +{} .{}", offset, member);
}

std::string placeText(std::string_view file, uint32_t line) { return fmt::format("{}:{}", baseName(file), line); }

std::string globalText(const Holders::Root &root, Conclusion &conclusion) {
  const uint64_t address = root.address - root.region.load_bias;
  const CodePlace &variable = conclusion.catalog.variableAt(root.region.image, address);
  const std::string_view image = baseName(root.region.image.path);
  if (variable.function.empty())
    return fmt::format("global at 0x{:x} of {}", address, image);
  return fmt::format("global {} ({})", variable.function,
                     variable.line != 0 ? placeText(variable.file, variable.line) : std::string(image));
}

std::string textOf(const Holders::Root &root, Conclusion &conclusion) {
  switch (root.region.use) {
  case RegionUse::Globals:
    return globalText(root, conclusion);
  case RegionUse::ThreadLocal:
    return fmt::format("thread-local storage of thread {}", root.region.tid);
  case RegionUse::Stack:
    return fmt::format("stack of thread {}", root.region.tid);
  case RegionUse::Registers:
    return fmt::format("register of thread {}", root.region.tid);
  default:
    return fmt::format("memory at 0x{:x} without a recorded allocation", root.address);
  }
}

std::string textOf(const Holders::Link &link, Conclusion &conclusion) {
  const Place place = conclusion.lines.places().of(link.site);
  const SiteText site = textOf(conclusion.catalog, place);
  const std::string type(conclusion.lines.typeOf(link.site));
  std::string text = type.empty() ? "block" : type;
  if (link.count > 1)
    text = fmt::format("{} × {}", link.count, text);
  text += site.file.empty() ? fmt::format(" ({})", site.function.empty() ? "unknown place" : site.function)
                            : fmt::format(" ({})", placeText(site.file, site.line));
  return link.whole ? text + ", a part of it" : text + memberText(site.library, type, link.offset, conclusion);
}

} // namespace

std::string beginOf(const Holders &holders, Conclusion &conclusion) {
  if (holders.root) {
    const MemoryRegion &region = holders.root->region;
    if (region.use != RegionUse::Globals)
      return region.use == RegionUse::Stack || region.use == RegionUse::Registers
                 ? "the " + textOf(*holders.root, conclusion)
                 : std::string();
    const CodePlace &variable = conclusion.catalog.variableAt(region.image, holders.root->address - region.load_bias);
    return variable.function.empty() ? std::string() : fmt::format("`{}`", variable.function);
  }
  if (holders.links.empty())
    return {};
  const SiteId site = holders.links.front().site;
  const SiteText place = textOf(conclusion.catalog, conclusion.lines.places().of(site));
  const std::string type(conclusion.lines.typeOf(site));
  return place.file.empty() ? std::string()
                            : fmt::format("the {} of {}", type.empty() ? "block" : "`" + type + "`",
                                          placeText(place.file, place.line));
}

std::string textOf(const Holders &holders, Conclusion &conclusion) {
  std::string text = holders.root ? textOf(*holders.root, conclusion) : std::string();
  const size_t first = holders.links.size() / 2;
  for (size_t i = 0; i < holders.links.size(); ++i) {
    if (!text.empty())
      text += " → ";
    if (holders.left_out > 0 && i == first)
      text += fmt::format("{} more blocks → ", holders.left_out);
    text += textOf(holders.links[i], conclusion);
  }
  return text;
}

} // namespace msleaks::analysis::inline findings
