#include "analysis/report/site_text.h"

#include "site_json.h"
#include "text_format.h"

#include "analysis/base/base_name.h"
#include "analysis/places/place.h"

#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

Json orNull(const std::string &text) { return text.empty() ? Json() : Json(text); }
Json orNull(uint32_t number) { return number == 0 ? Json() : Json(number); }

Json jsonOf(SiteOrigin origin) {
  switch (origin) {
  case SiteOrigin::Pass:
    return "pass";
  case SiteOrigin::Hook:
    return "hook";
  case SiteOrigin::Unknown:
    break;
  }
  return nullptr;
}

Json jsonOf(const FrameText &frame) {
  return {{"function", orNull(frame.function)},
          {"file", orNull(frame.file)},
          {"line", orNull(frame.line)},
          {"column", orNull(frame.column)}};
}

// "net::grow(...)" of "net::grow(std::vector<float> const&, int)": the last parameter list, with its nesting.
std::string withoutParameters(const std::string &function) {
  const size_t close = function.rfind(')');
  if (close == std::string::npos)
    return function;
  int depth = 0;
  for (size_t at = close + 1; at-- > 0;) {
    depth += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
    if (depth == 0)
      return at == 0 ? function : function.substr(0, at) + "(...)" + function.substr(close + 1);
  }
  return function;
}

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

Json jsonOf(const SiteText &site) {
  const bool known = site.origin != SiteOrigin::Unknown;
  Json chain = Json::array();
  for (const FrameText &frame : site.inlined_at)
    chain.push_back(jsonOf(frame));
  Json json = {{"id", known ? Json(fmt::format("{:016x}", site.id)) : Json()},
               {"file", orNull(site.file)},
               {"line", orNull(site.line)},
               {"column", orNull(site.column)},
               {"function", orNull(site.function)},
               {"callee", orNull(site.callee)},
               {"type", orNull(site.type)},
               {"variable", orNull(site.variable)},
               {"inlined_at", std::move(chain)},
               {"origin", jsonOf(site.origin)}};
  if (!site.library.empty())
    json["library"] = site.library;
  if (site.origin == SiteOrigin::Hook)
    json["offset"] = site.offset;
  return json;
}

void appendFrames(const SiteText &call, Json &frames) {
  const auto append = [&](const FrameText &frame) {
    Json json = jsonOf(frame);
    json["library"] = orNull(call.library);
    json["offset"] = call.origin == SiteOrigin::Hook ? Json(call.offset) : Json();
    json["origin"] = jsonOf(call.origin);
    frames.push_back(std::move(json));
  };
  append(call);
  for (const FrameText &frame : call.inlined_at)
    append(frame);
}

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

std::string nameOf(const SiteText &site, size_t columns) {
  std::string target;
  if (!site.variable.empty())
    target += " -> " + printable(site.variable);
  if (!site.type.empty())
    target += " (" + printable(site.type) + ")";
  if (site.function.empty())
    return target.empty() ? target : cutEnd(std::string_view(target).substr(1), columns);
  std::string function = "in " + printable(site.function);
  if (widthOf(function) + widthOf(target) > columns)
    function = withoutParameters(function);
  // The destination says more than a long name's end.
  const size_t wanted = widthOf(target);
  const size_t left = columns > wanted ? columns - wanted : 0;
  if (widthOf(function) > left && left < columns / 3)
    return cutEnd(function + target, columns);
  return cutEnd(function, left) + target;
}

std::string userPlaceOf(const SiteText &site, size_t columns) {
  if (!isSystemHeader(site.file))
    return {};
  for (const FrameText &frame : site.inlined_at) {
    if (frame.file.empty() || isSystemHeader(frame.file))
      continue;
    std::string text = "from " + positionOf(frame.file, frame.line, frame.column, columns > 5 ? columns - 5 : 0);
    const std::string function = frame.function.empty() ? std::string() : " in " + printable(frame.function);
    return widthOf(text) + 12 <= columns ? text + cutEnd(function, columns - widthOf(text)) : text;
  }
  return {};
}

std::string calleeOf(const SiteText &site, size_t columns) {
  return site.callee.empty() ? std::string() : cutEnd("calls " + printable(site.callee), columns);
}

} // namespace msleaks::analysis
