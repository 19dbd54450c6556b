#include "callers.h"

namespace msleaks::analysis {
namespace {

// The lines of a call, innermost first: its own, and those that its function was inlined into.
std::vector<SiteText> linesOf(const SiteText &call) {
  std::vector<SiteText> lines(1 + call.inlined_at.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    SiteText &line = lines[i];
    const FrameText own{call.function, call.file, call.line, call.column};
    const FrameText &frame = i == 0 ? own : call.inlined_at[i - 1];
    line.function = frame.function;
    line.file = frame.file;
    line.line = frame.line;
    line.column = frame.column;
    line.origin = call.origin;
    line.library = call.library;
    line.offset = call.offset;
  }
  return lines;
}

bool isPlaceOf(const SiteLine &line, const SiteText &at) {
  const SiteText &site = line.site;
  return at.line == site.line && at.column == site.column && at.file == site.file && at.function == site.function;
}

} // namespace

Callers callersOf(const SiteLine &line, size_t most) {
  Callers callers;
  if (line.paths.empty())
    return callers;
  const PathLine &path = line.paths.front();
  std::string last = line.site.function;
  bool behind = false;
  for (size_t i = path.place; i < path.calls.size(); ++i)
    for (SiteText &at : linesOf(*path.calls[i])) {
      if (behind && (last == "main" || callers.lines.size() == most))
        return callers;
      if (behind) {
        last = at.function;
        callers.lines.push_back(std::move(at));
      }
      behind = behind || isPlaceOf(line, at);
    }
  // A place of instrumented code alone has no path that could have an end.
  const bool has_none = path.calls.size() == 1 && path.calls.front()->origin == SiteOrigin::Pass;
  callers.known = path.complete || has_none;
  return callers;
}

} // namespace msleaks::analysis
