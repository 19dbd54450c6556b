#include "analysis/text/callers.h"

#include "analysis/base/text.h"
#include "analysis/places/place.h"
#include "analysis/places/python_code.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace msleaks::analysis::inline text {
namespace {

constexpr size_t kShownCallers = 3, kShownPaths = 3, kShownWrappers = 4;
constexpr size_t kComparedPaths = 200; // a place may have a hundred thousand paths, sorted by bytes

struct Callers {
  std::vector<SiteText> wrappers; // the user's own functions between the place and the allocator; outermost first
  std::vector<SiteText> lines;    // innermost first; each inlined function is a line of its own
  bool known = true;              // false: the last of `lines` has a caller that is not known
};

// Returns the lines of a call, innermost first: its own line, and the lines of the functions that its function was
// inlined into.
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

// Whether this is code of libc that runs before main or before a thread's function.
bool isStartCode(const SiteText &line) {
  constexpr std::array<std::string_view, 7> kNames = {
      "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3", "__clone3"};
  const std::string_view name = std::string_view(line.function).substr(0, line.function.find('@'));
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("__libc_start_main");
}

// Whether this is a line of the standard library, or of the code that imports Python's modules. It is left out, because
// its caller says more.
bool isStandardLibrary(const SiteText &line) {
  if (isImport(line.origin, line.file))
    return true;
  if (!line.file.empty())
    return isSystemHeader(line.file) && line.file.find("/include/") != std::string::npos;
  return line.function.starts_with("std::") || line.function.starts_with("__gnu_cxx::");
}

// Returns the user's own lines between the place and the allocator. They are wrappers, so the report does not name them
// as the place.
std::vector<SiteText> wrappersOf(const SiteLine &line, const std::vector<SiteText> &lines, size_t place) {
  std::vector<SiteText> wrappers;
  for (size_t at = line.own ? place : 0; at-- > 0;) {
    const SiteText &inner = lines[at];
    if (!inner.file.empty() && !isSystemPath(inner.file) &&
        (inner.origin == SiteOrigin::Pass || !isSystemImage(inner.library)))
      wrappers.push_back(inner);
  }
  if (wrappers.size() > kShownWrappers) // keeps the last wrapper, which allocates
    wrappers.erase(wrappers.begin() + kShownWrappers - 1, wrappers.end() - 1);
  return wrappers;
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
  callers.wrappers = wrappersOf(line, lines, static_cast<size_t>(place - lines.begin()));
  bool is_over = place->function == "main"; // only libc calls main
  for (auto at = place + 1; at != lines.end() && !is_over && callers.lines.size() < kShownCallers; ++at) {
    is_over = at->function == "main" || isStartCode(*at);
    if (!isStartCode(*at) && !isStandardLibrary(*at))
      callers.lines.push_back(*at);
  }
  // If the path consists only of an instrumented call, it was not followed further, so it has no unknown end.
  const bool has_none = path.calls.size() == 1 && path.calls.front()->origin == SiteOrigin::Pass;
  callers.known = path.complete || has_none || is_over || callers.lines.size() == kShownCallers;
  return callers;
}

// The name gets at least half of the line, and also the room that a short path leaves.
std::string callText(const char *arrow, const SiteText &call, size_t columns) {
  SiteText function;
  function.function = call.function;
  const size_t room = columns - 2;
  const size_t place = std::min(widthOf(placeOf(call, room)), room / 2);
  const std::string name = nameOf(function, room - place - 1);
  return arrow + (name.empty() ? placeOf(call, room) : placeOf(call, room - widthOf(name) - 1) + " " + name);
}

CallersText textOf(const Callers &callers, size_t columns) {
  CallersText text;
  for (const SiteText &wrapper : callers.wrappers)
    text.lines.push_back(callText("> ", wrapper, columns));
  for (const SiteText &caller : callers.lines)
    text.lines.push_back(callText("< ", caller, columns));
  if (!callers.known)
    text.lines.push_back("< not known");
  return text;
}

// Handles have no bytes, so their number counts.
uint64_t weightOf(const SiteLine &line) { return line.bytes != 0 ? line.bytes : line.count; }
uint64_t weightIn(const SiteLine &line, const PathLine &path) { return line.bytes != 0 ? path.bytes : path.count; }

// Returns the callers for each of the line's first paths.
std::vector<Callers> callersIn(const SiteLine &line) {
  std::vector<Callers> callers;
  for (size_t i = 0; i < std::min(line.paths.size(), kComparedPaths); ++i)
    callers.push_back(callersIn(line, line.paths[i]));
  return callers;
}

// Joins paths that show the same lines. They differ only in callers further out.
std::vector<CallersText> differentOf(const SiteLine &line, const std::vector<Callers> &callers, size_t columns) {
  std::vector<CallersText> different;
  for (size_t i = 0; i < callers.size(); ++i) {
    CallersText text = textOf(callers[i], columns);
    auto same = std::find_if(different.begin(), different.end(),
                             [&](const CallersText &other) { return other.lines == text.lines; });
    if (same == different.end())
      same = different.insert(same, std::move(text));
    same->weight += weightIn(line, line.paths[i]);
    ++same->paths;
  }
  std::stable_sort(different.begin(), different.end(),
                   [](const CallersText &left, const CallersText &right) { return left.weight > right.weight; });
  return different;
}

// Returns the paths with the most bytes: at most kShownPaths, and no more than have three quarters of the row's bytes
// together.
std::vector<CallersText> mostOf(const SiteLine &line, const std::vector<Callers> &callers, size_t columns) {
  std::vector<CallersText> paths = differentOf(line, callers, columns);
  const uint64_t whole = weightOf(line);
  uint64_t sum = 0;
  size_t count = 0;
  while (count < std::min(paths.size(), kShownPaths) && (count == 0 || sum < whole - whole / 4))
    sum += paths[count++].weight;
  paths.resize(count);
  return paths;
}

void addShare(CallersText &path, uint64_t whole) {
  if (path.lines.empty())
    path.lines.emplace_back("no caller");
  path.share = fmt::format("{:>3} ", percentText(path.weight, whole));
  std::string share = path.share;
  for (std::string &line : path.lines) {
    line.insert(0, share);
    share.assign(share.size(), ' ');
  }
}

} // namespace

std::vector<SiteText> callersAlong(const SiteLine &line, const PathLine &path) { return callersIn(line, path).lines; }

std::vector<CallersText> callersOf(const SiteLine &line, size_t columns) {
  constexpr size_t kShareColumns = 4;
  const std::vector<Callers> callers = callersIn(line);
  std::vector<CallersText> paths = mostOf(line, callers, columns);
  if (paths.size() < 2)
    return paths;
  paths = mostOf(line, callers, columns - kShareColumns); // the shares take some columns
  for (CallersText &path : paths)
    addShare(path, weightOf(line));
  return paths;
}

} // namespace msleaks::analysis::inline text
