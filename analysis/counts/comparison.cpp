#include "analysis/counts/comparison.h"

#include "analysis/counts/escaped.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <unordered_map>

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

namespace {

constexpr int kMostEdits = 3000; // The search needs memory in proportion to the square of this number.

using Words = std::vector<uint32_t>;
using Furthest = std::vector<int>; // by diagonal, from -edits to edits: the index that the search reached in `first`

// Searches as in Myers' "An O(ND) difference algorithm". Returns what was reached after each number of edits, up to the
// first number that reaches both ends. Returns nothing if more than kMostEdits edits are needed.
std::optional<std::vector<Furthest>> search(const Words &first, const Words &second) {
  const int n = static_cast<int>(first.size()), m = static_cast<int>(second.size());
  std::vector<Furthest> reached;
  for (int edits = 0; edits <= std::min(n + m, kMostEdits); ++edits) {
    Furthest now(static_cast<size_t>(2 * edits + 1), -1);
    const auto before = [&](int diagonal) {
      return std::abs(diagonal) < edits ? reached.back()[static_cast<size_t>(diagonal + edits - 1)] : -1;
    };
    for (int diagonal = -edits; diagonal <= edits; diagonal += 2) {
      int at = edits == 0 ? 0
               : diagonal == -edits || (diagonal != edits && before(diagonal - 1) < before(diagonal + 1))
                   ? before(diagonal + 1)
                   : before(diagonal - 1) + 1;
      while (at < n && at - diagonal < m && at - diagonal >= 0 &&
             first[static_cast<size_t>(at)] == second[static_cast<size_t>(at - diagonal)])
        ++at;
      const int index = diagonal + edits;
      now[static_cast<size_t>(index)] = at;
      if (at >= n && at - diagonal >= m) {
        reached.push_back(std::move(now));
        return reached;
      }
    }
    reached.push_back(std::move(now));
  }
  return std::nullopt;
}

// Follows the search back from the end. Returns the pairs of equal words, in order.
std::vector<std::pair<int, int>> matches(const Words &first, const Words &second,
                                         const std::vector<Furthest> &reached) {
  std::vector<std::pair<int, int>> pairs;
  int x = static_cast<int>(first.size()), y = static_cast<int>(second.size());
  for (int edits = static_cast<int>(reached.size()) - 1; edits >= 0; --edits) {
    const int diagonal = x - y;
    int from_x = 0, from_y = 0;
    if (edits > 0) {
      const auto before = [&](int k) {
        return std::abs(k) < edits ? reached[static_cast<size_t>(edits - 1)][static_cast<size_t>(k + edits - 1)] : -1;
      };
      const bool down = diagonal == -edits || (diagonal != edits && before(diagonal - 1) < before(diagonal + 1));
      const int previous = down ? diagonal + 1 : diagonal - 1;
      from_x = before(previous);
      from_y = from_x - previous;
    }
    while (x > from_x && y > from_y)
      pairs.emplace_back(--x, --y);
    x = from_x;
    y = from_y;
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

// Adds the lines before `end_a` and `end_b`, which have no equal line on the other side. Changed lines stand beside the
// lines that replaced them.
void addUnlike(std::vector<AlignedLines> &all, const std::vector<ProfiledLine> &first, size_t &a, size_t end_a,
               const std::vector<ProfiledLine> &second, size_t &b, size_t end_b) {
  while (a < end_a || b < end_b) {
    AlignedLines lines;
    if (a < end_a)
      lines.first = &first[a++];
    if (b < end_b)
      lines.second = &second[b++];
    all.push_back(lines);
  }
}

bool isHex(char character) { return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f'); }

} // namespace

std::string withoutAddresses(std::string_view text) {
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(" <")) {
      while (!kept.empty() && isHex(kept.back()))
        kept.pop_back();
      if (kept.ends_with("0x"))
        kept.resize(kept.size() - 2);
    }
    kept += text[i];
  }
  return kept;
}

std::vector<AlignedLines> aligned(const std::vector<ProfiledLine> &first, const std::vector<ProfiledLine> &second) {
  std::unordered_map<std::string, uint32_t> numbers;
  const auto wordsOf = [&](const std::vector<ProfiledLine> &lines) {
    Words words;
    for (const ProfiledLine &line : lines)
      words.push_back(
          numbers.try_emplace(withoutAddresses(line.text), static_cast<uint32_t>(numbers.size())).first->second);
    return words;
  };
  const Words a_words = wordsOf(first), b_words = wordsOf(second);
  std::vector<AlignedLines> all;
  size_t a = 0, b = 0;
  if (const auto reached = search(a_words, b_words))
    for (const auto &[x, y] : matches(a_words, b_words, *reached)) {
      addUnlike(all, first, a, static_cast<size_t>(x), second, b, static_cast<size_t>(y));
      all.push_back({&first[a++], &second[b++]});
    }
  addUnlike(all, first, a, first.size(), second, b, second.size());
  return all;
}

} // namespace msleaks::analysis::profiles
