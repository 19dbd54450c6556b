#include "analysis/places/site_text.h"

#include "analysis/places/symbolizer.h"

#include <string_view>

namespace msleaks::analysis::inline places {
namespace {

// "/src/./x.c" or "/src//x.c", as build systems write them, -> "/src/x.c". Keeps "..": after a link it leads elsewhere.
std::string withoutDots(std::string_view path) {
  std::string text;
  for (size_t at = 0; at < path.size(); ++at) {
    const bool begins = at == 0 || path[at - 1] == '/';
    if (begins && path.substr(at).starts_with("./")) {
      ++at;
      continue;
    }
    if (path[at] == '/' && (text.ends_with('/') || (text.empty() && at != 0)))
      continue;
    text += path[at];
  }
  return text;
}

} // namespace

SiteText textOf(const Site &site) {
  SiteText text;
  text.id = site.id;
  text.file = withoutDots(site.file);
  text.line = site.line;
  text.column = site.column;
  text.function = demangle(site.function);
  text.callee = demangle(site.callee);
  text.type = site.type;
  text.variable = site.variable;
  for (const InlineFrame &frame : site.inlined_at)
    text.inlined_at.push_back({demangle(frame.function), withoutDots(frame.file), frame.line, frame.column});
  text.origin = site.origin;
  text.library = site.library;
  text.offset = site.offset;
  return text;
}

} // namespace msleaks::analysis::inline places
