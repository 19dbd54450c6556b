#include "callers.h"

#include "place.h"

#include <algorithm>

namespace msleaks::analysis {
namespace {

// The lines of a call, innermost first: its own, and those that its function was inlined into.
std::vector<SiteText> linesOf(const SiteText &call) {
  std::vector<SiteText> lines(1 + call.inlined_at.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    SiteText &line = lines[i];
    static_cast<FrameText &>(line) = i == 0 ? call : call.inlined_at[i - 1];
    line.origin = call.origin;
    line.library = call.library;
    line.offset = call.offset;
  }
  return lines;
}

// The line that the place called, when it is the user's own too: the place was chosen since that is a wrapper.
std::optional<SiteText> wrapperOf(const SiteLine &line, const std::vector<SiteText> &lines, size_t place) {
  if (!line.own || place == 0)
    return std::nullopt;
  const SiteText &inner = lines[place - 1];
  const bool is_own = !inner.file.empty() && !isSystemHeader(inner.file) &&
                      (inner.origin == SiteOrigin::Pass || !isSystemPath(inner.library));
  return is_own ? std::optional(inner) : std::nullopt;
}

} // namespace

Callers callersOf(const SiteLine &line, size_t most) {
  Callers callers;
  if (line.paths.empty())
    return callers;
  const PathLine &path = line.paths.front();
  std::vector<SiteText> lines;
  for (const auto &call : path.calls)
    for (SiteText &at : linesOf(*call))
      lines.push_back(std::move(at));
  const auto place = std::find_if(lines.begin(), lines.end(), [&](const FrameText &at) { return at == line.site; });
  if (place == lines.end())
    return callers;
  callers.wrapper = wrapperOf(line, lines, static_cast<size_t>(place - lines.begin()));
  for (auto at = place; at->function != "main" && at + 1 != lines.end() && callers.lines.size() < most; ++at)
    callers.lines.push_back(*(at + 1));
  // A place of instrumented code alone has no path that could have an end.
  const bool has_none = path.calls.size() == 1 && path.calls.front()->origin == SiteOrigin::Pass;
  const std::string &last = callers.lines.empty() ? line.site.function : callers.lines.back().function;
  callers.known = path.complete || has_none || last == "main" || callers.lines.size() == most;
  return callers;
}

} // namespace msleaks::analysis
