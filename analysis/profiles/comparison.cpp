#include "analysis/profiles/comparison.h"

#include "analysis/profiles/escaped.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace msleaks::analysis::profiles {
namespace {

std::optional<uint64_t> valueIn(const Profile &profile, const std::string &counter) {
  const auto found = profile.counters.find(counter);
  return found == profile.counters.end() ? std::nullopt : std::optional(found->second);
}

const ProfiledFunction *functionIn(const Profile &profile, const std::string &name) {
  const auto found = profile.functions.find(name);
  return found == profile.functions.end() ? nullptr : &found->second;
}

Result<std::string> counterOf(const std::vector<ComparedCounter> &counters, const std::string &wanted) {
  std::string names;
  for (const ComparedCounter &counter : counters) {
    if (counter.name == (wanted.empty() ? "cycles" : wanted))
      return counter.name;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", shown(counter.name));
  }
  if (!wanted.empty())
    return fail(fmt::format("neither profile has a counter '{}'; there are {}", shown(wanted), names),
                ExitStatus::Usage);
  return counters.empty() ? std::string() : counters.front().name;
}

} // namespace

double shareOf(const ProfiledFunction *function, const std::string &counter) {
  if (!function)
    return 0;
  const auto found = function->counters.find(counter);
  return found == function->counters.end() ? 0 : found->second;
}

Result<ProfileComparison> compareProfiles(const Profile &first, const Profile &second, const ComparisonChoice &choice) {
  ProfileComparison comparison;
  std::set<std::string> counters, functions;
  for (const Profile *profile : {&first, &second}) {
    for (const auto &[name, value] : profile->counters)
      counters.insert(name);
    for (const auto &[name, function] : profile->functions)
      if (choice.function.empty() || name == choice.function)
        functions.insert(name);
  }
  for (const std::string &name : counters)
    comparison.counters.push_back({name, valueIn(first, name), valueIn(second, name)});
  comparison.counter = MSL_TRY(counterOf(comparison.counters, choice.counter));
  if (!choice.function.empty() && functions.empty())
    return fail(fmt::format("neither profile has a function '{}'", shown(choice.function)), ExitStatus::Usage);
  for (const std::string &name : functions)
    comparison.functions.push_back({name, functionIn(first, name), functionIn(second, name), {}});
  const auto largest = [&](const ComparedFunction &function) {
    return std::max(shareOf(function.first, comparison.counter), shareOf(function.second, comparison.counter));
  };
  std::stable_sort(
      comparison.functions.begin(), comparison.functions.end(),
      [&](const ComparedFunction &left, const ComparedFunction &right) { return largest(left) > largest(right); });
  if (choice.top && *choice.top < comparison.functions.size())
    comparison.functions.resize(*choice.top);
  static const std::vector<ProfiledLine> kNone;
  for (ComparedFunction &function : comparison.functions)
    function.lines =
        aligned(function.first ? function.first->lines : kNone, function.second ? function.second->lines : kNone);
  comparison.one_function = !choice.function.empty();
  comparison.top = choice.top;
  return comparison;
}

} // namespace msleaks::analysis::profiles
