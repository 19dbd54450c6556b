#include "analysis/compare/place_callers.h"

#include "analysis/base/text.h"
#include "analysis/text/callers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostPaths = 200; // limit for the paths of a place; paths with the most bytes count

struct CallerChange {
  FrameText caller;
  int64_t bytes = 0;
};

// Callers by function and file, because lines differ between builds.
using CallerChanges = std::map<std::pair<std::string, std::string>, CallerChange>;

// Adds the bytes of each caller to `changes`, with this sign.
void addCallersOf(const SiteLine &line, int64_t sign, CallerChanges &changes) {
  for (size_t i = 0; i < std::min(line.paths.size(), kMostPaths); ++i) {
    FrameText caller;
    for (const SiteText &of : callersAlong(line, line.paths[i]))
      if (of.function != line.site.function) {
        caller = of;
        break;
      }
    CallerChange &change = changes[{caller.function, std::string(baseName(caller.file))}];
    change.caller = std::move(caller);
    change.bytes += sign * static_cast<int64_t>(line.paths[i].bytes);
  }
}

} // namespace

std::optional<FrameText> changedCaller(const SameLines *before, const SameLines *after) {
  CallerChanges changes;
  int64_t whole = 0;
  const auto add = [&](const SameLines *lines, int64_t sign) {
    for (const SiteLine *line : lines ? *lines : SameLines()) {
      addCallersOf(*line, sign, changes);
      whole += sign * static_cast<int64_t>(line->bytes);
    }
  };
  add(before, -1);
  add(after, 1);
  for (auto &[name, of] : changes) {
    const bool is_most = whole < 0 ? of.bytes <= whole / 4 * 3 : of.bytes >= whole / 4 * 3;
    if (whole != 0 && is_most && !of.caller.function.empty())
      return std::move(of.caller);
  }
  return {};
}

} // namespace msleaks::analysis::inline compare
