#include "analysis/compare/renamed_functions.h"

#include "analysis/places/function_name.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostLikeIt = 64; // limit for functions that share a name or file; more are generated code

struct Rename {
  size_t votes = 0; // number of places with the same purpose
  const FunctionKey *from = nullptr, *to = nullptr;
};

size_t sharedPurposes(const Purposes &before, const Purposes &now) {
  return static_cast<size_t>(std::count_if(before.begin(), before.end(), [&](const auto &purpose) {
    return !std::get<0>(purpose).empty() && now.contains(purpose);
  }));
}

bool isLikely(const FunctionKey &before, const FunctionKey &now, size_t votes, bool is_new_file) {
  constexpr size_t kSure = 2;
  const std::string_view old_name = before.second, new_name = now.second;
  if (before.first != now.first)
    return old_name == new_name && is_new_file;
  if (withoutTemplateArguments(old_name) == withoutTemplateArguments(new_name))
    return true;
  const bool contains =
      old_name.find(new_name) != std::string_view::npos || new_name.find(old_name) != std::string_view::npos;
  return votes >= kSure || (votes != 0 && contains);
}

} // namespace

std::map<FunctionKey, FunctionKey> renamedFunctions(const FunctionPurposes &gone, const FunctionPurposes &fresh,
                                                    const FunctionVotes &votes,
                                                    const std::set<std::string> &new_files) {
  std::multimap<std::string_view, const FunctionPurposes::value_type *> by_file, by_name;
  for (const auto &function : fresh) {
    by_file.emplace(function.first.first, &function);
    by_name.emplace(function.first.second, &function);
  }
  std::vector<Rename> renames;
  for (const auto &[from, purposes] : gone)
    for (const auto *like_it : {&by_file, &by_name}) {
      const auto [begin, end] = like_it->equal_range(like_it == &by_file ? from.first : from.second);
      if (std::distance(begin, end) > static_cast<ptrdiff_t>(kMostLikeIt))
        continue;
      for (auto other = begin; other != end; ++other) {
        const auto &[to, new_purposes] = *other->second;
        const auto known = votes.find({from, to});
        const size_t count = sharedPurposes(purposes, new_purposes) + (known == votes.end() ? 0 : known->second);
        if (isLikely(from, to, count, new_files.contains(to.first)))
          renames.push_back({count, &from, &to});
      }
    }
  std::stable_sort(renames.begin(), renames.end(), [](const Rename &a, const Rename &b) { return a.votes > b.votes; });
  std::map<FunctionKey, FunctionKey> chosen;
  std::set<FunctionKey> taken;
  for (const Rename &rename : renames)
    if (!chosen.contains(*rename.from) && taken.insert(*rename.to).second)
      chosen.emplace(*rename.from, *rename.to);
  return chosen;
}

} // namespace msleaks::analysis::inline compare
