#include "analysis/base/page_text.h"

namespace msleaks::analysis::inline base {

std::string escapedForScript(std::string_view json) {
  // In JSON, '<' occurs only inside strings. Without '<', no tag and no comment can end the script.
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      escaped += "\\u003c";
    else
      escaped += c;
  return escaped;
}

std::string escapedForHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text)
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

Result<void> checkPage(std::span<const std::string_view> parts) {
  if (parts.size() > 1)
    return {};
  return fail("this msleaks has no page, because npm was missing or failed when it was built. Build it again with npm");
}

} // namespace msleaks::analysis::inline base
