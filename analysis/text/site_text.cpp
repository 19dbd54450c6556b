#include "analysis/text/site_text.h"

#include "analysis/base/text.h"
#include "analysis/places/function_name.h"
#include "analysis/places/place.h"
#include "analysis/result/writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline text {
namespace {

std::string positionOf(const std::string &file, uint32_t line, uint32_t column, size_t columns) {
  std::string position;
  if (line != 0)
    position += fmt::format(":{}", line);
  if (line != 0 && column != 0)
    position += fmt::format(":{}", column);
  const size_t left = columns > position.size() ? columns - position.size() : 0;
  return shortPath(printable(file), left) + position;
}

} // namespace

void writeSiteJson(std::ostream &to, const SiteText &site) { write(to, jsonOf(site), -1); }

std::string placeOf(const SiteText &site, size_t columns) {
  if (!site.file.empty())
    return positionOf(site.file, site.line, site.column, columns);
  if (site.origin == SiteOrigin::Hook) {
    const std::string offset = fmt::format("+{:#x}", site.offset);
    const std::string library = site.library.empty() ? "(unknown library)" : printable(baseName(site.library));
    return cutBegin(library, columns > offset.size() ? columns - offset.size() : 0) + offset;
  }
  if (!site.library.empty())
    return cutBegin(printable(baseName(site.library)), columns);
  return cutEnd("(unknown place)", columns);
}

std::string shortFunction(const std::string &function, size_t columns) {
  std::vector<std::string> forms = formsOf(plainName(printable(function)));
  for (std::string &form : forms)
    if (widthOf(form) <= columns)
      return std::move(form);
  return cutMiddle(forms.back(), columns);
}

// If there is not enough room, the destination loses the arguments of its type, then its type, and is then left out.
// Only after that the function's own name is cut.
std::string nameOf(const SiteText &site, size_t columns) {
  const std::string variable = site.variable.empty() ? "" : " -> " + printable(site.variable);
  std::vector<std::string> targets{variable};
  if (!site.type.empty()) {
    const std::string type = plainName(printable(site.type));
    targets = {fmt::format("{} ({})", variable, type), fmt::format("{} ({})", variable, withoutTemplateArguments(type)),
               variable};
  }
  if (site.function.empty())
    return targets.front().empty() ? "" : cutEnd(std::string_view(targets.front()).substr(1), columns);
  const std::string least = "in " + formsOf(plainName(printable(site.function))).back();
  for (const std::string &target : targets)
    if (widthOf(least) + widthOf(target) <= columns)
      return "in " + shortFunction(site.function, columns - 3 - widthOf(target)) + target;
  return columns <= 3 ? cutEnd(least, columns) : "in " + shortFunction(site.function, columns - 3);
}

std::string placeAndNameOf(const SiteText &site, size_t columns) {
  const size_t for_place = std::min(widthOf(placeOf(site, columns)), columns / 2);
  const std::string name = nameOf(site, columns - for_place - 1);
  return name.empty() ? placeOf(site, columns) : placeOf(site, columns - widthOf(name) - 1) + " " + name;
}

std::string userPlaceOf(const SiteText &site, size_t columns) {
  if (!isSystemPath(site.file))
    return {};
  for (const FrameText &frame : site.inlined_at) {
    if (frame.file.empty() || isSystemPath(frame.file))
      continue;
    std::string text = "from " + positionOf(frame.file, frame.line, frame.column, columns > 5 ? columns - 5 : 0);
    constexpr std::string_view kIn = " in ";
    constexpr size_t kLeastName = 8;
    const size_t taken = widthOf(text) + kIn.size();
    if (!frame.function.empty() && taken + kLeastName <= columns)
      text.append(kIn).append(shortFunction(frame.function, columns - taken));
    return text;
  }
  return {};
}

std::string calleeOf(const SiteText &site, size_t columns) {
  return site.callee.empty() ? std::string() : cutEnd("calls " + plainName(printable(site.callee)), columns);
}

} // namespace msleaks::analysis::inline text
