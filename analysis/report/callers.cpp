#include "callers.h"

#include "analysis/places/place.h"
#include "analysis/report/site_text.h"
#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace msleaks::analysis {
namespace {

constexpr size_t kShownCallers = 3, kShownPaths = 3;
constexpr size_t kComparedPaths = 200; // a place may have a hundred thousand; those with the most bytes come first

struct Callers {
  std::optional<SiteText> wrapper; // of the user's own, that the place called
  std::vector<SiteText> lines;     // innermost first; functions that were inlined are lines of their own
  bool known = true;               // whether the last of `lines` has no caller, or one that only is not shown
};

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
                      (inner.origin == SiteOrigin::Pass || !isSystemImage(inner.library));
  return is_own ? std::optional(inner) : std::nullopt;
}

Callers callersIn(const SiteLine &line, const PathLine &path) {
  Callers callers;
  std::vector<SiteText> lines;
  for (const auto &call : path.calls)
    for (SiteText &at : linesOf(*call))
      lines.push_back(std::move(at));
  const auto place = std::find_if(lines.begin(), lines.end(), [&](const FrameText &at) { return at == line.site; });
  if (place == lines.end())
    return callers;
  callers.wrapper = wrapperOf(line, lines, static_cast<size_t>(place - lines.begin()));
  for (auto at = place; at->function != "main" && at + 1 != lines.end() && callers.lines.size() < kShownCallers; ++at)
    callers.lines.push_back(*(at + 1));
  // A place of instrumented code alone has no path that could have an end.
  const bool has_none = path.calls.size() == 1 && path.calls.front()->origin == SiteOrigin::Pass;
  const std::string &last = callers.lines.empty() ? line.site.function : callers.lines.back().function;
  callers.known = path.complete || has_none || last == "main" || callers.lines.size() == kShownCallers;
  return callers;
}

// A long path leaves room for the name.
std::string callText(const char *arrow, const SiteText &call, size_t columns) {
  SiteText function;
  function.function = call.function;
  const std::string name = nameOf(function, columns / 2);
  const size_t room = columns - 2;
  return arrow + (name.empty() ? placeOf(call, room) : placeOf(call, room - widthOf(name) - 1) + " " + name);
}

CallersText textOf(const Callers &callers, size_t columns) {
  CallersText text;
  if (callers.wrapper)
    text.lines.push_back(callText("> ", *callers.wrapper, columns));
  for (const SiteText &caller : callers.lines)
    text.lines.push_back(callText("< ", caller, columns));
  if (!callers.known)
    text.lines.push_back("< not known");
  return text;
}

// Of the line's first paths.
std::vector<Callers> callersIn(const SiteLine &line) {
  std::vector<Callers> callers;
  for (size_t i = 0; i < std::min(line.paths.size(), kComparedPaths); ++i)
    callers.push_back(callersIn(line, line.paths[i]));
  return callers;
}

// Paths that differ further out only are one.
std::vector<CallersText> differentOf(const SiteLine &line, const std::vector<Callers> &callers, size_t columns) {
  std::vector<CallersText> different;
  for (size_t i = 0; i < callers.size(); ++i) {
    CallersText text = textOf(callers[i], columns);
    auto same = std::find_if(different.begin(), different.end(),
                             [&](const CallersText &other) { return other.lines == text.lines; });
    if (same == different.end())
      same = different.insert(same, std::move(text));
    same->bytes += line.paths[i].bytes;
    ++same->paths;
  }
  std::stable_sort(different.begin(), different.end(),
                   [](const CallersText &left, const CallersText &right) { return left.bytes > right.bytes; });
  return different;
}

// Those with the most bytes, until they have three quarters of the row's together, or are kShownPaths.
std::vector<CallersText> mostOf(const SiteLine &line, const std::vector<Callers> &callers, size_t columns) {
  std::vector<CallersText> paths = differentOf(line, callers, columns);
  uint64_t bytes = 0;
  size_t count = 0;
  while (count < std::min(paths.size(), kShownPaths) && (count == 0 || bytes < line.bytes - line.bytes / 4))
    bytes += paths[count++].bytes;
  paths.resize(count);
  return paths;
}

void addShare(CallersText &path, uint64_t whole) {
  if (path.lines.empty())
    path.lines.emplace_back("no caller");
  std::string share = fmt::format("{:>3} ", percentText(path.bytes, whole));
  for (std::string &line : path.lines) {
    line = share + line;
    share.assign(share.size(), ' ');
  }
}

} // namespace

std::vector<CallersText> callersOf(const SiteLine &line, size_t columns) {
  constexpr size_t kShareColumns = 4;
  const std::vector<Callers> callers = callersIn(line);
  std::vector<CallersText> paths = mostOf(line, callers, columns);
  if (paths.size() < 2)
    return paths;
  paths = mostOf(line, callers, columns - kShareColumns); // the shares take some
  for (CallersText &path : paths)
    addShare(path, line.bytes);
  return paths;
}

} // namespace msleaks::analysis
