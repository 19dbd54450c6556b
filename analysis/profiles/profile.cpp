#include "analysis/profiles/profile.h"

#include "analysis/profiles/escaped.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace msleaks::analysis::profiles {
namespace {

bool isShare(double percent) { return std::isfinite(percent) && percent >= 0; }

Result<void> checkFunction(const std::string &name, const ProfiledFunction &function) {
  for (const auto &[counter, percent] : function.counters)
    if (!isShare(percent))
      return fail(
          fmt::format("counter '{}' of function '{}' is {}; expected percent", shown(counter), shown(name), percent));
  uint64_t previous = 0;
  for (const ProfiledLine &line : function.lines) {
    if (line.shares.size() != function.counters.size())
      return fail(fmt::format("function '{}' has {} counters, its line at {:#x} has {}", shown(name),
                              function.counters.size(), line.address, line.shares.size()));
    if (!std::all_of(line.shares.begin(), line.shares.end(), isShare))
      return fail(fmt::format("a counter of function '{}' at {:#x} is not a percentage", shown(name), line.address));
    if (line.address < previous)
      return fail(
          fmt::format("addresses of function '{}' fall from {:#x} to {:#x}", shown(name), previous, line.address));
    previous = line.address;
  }
  return {};
}

} // namespace

Result<void> checkProfile(const Profile &profile) {
  for (const auto &[name, function] : profile.functions)
    MSL_TRY(checkFunction(name, function));
  return {};
}

} // namespace msleaks::analysis::profiles
