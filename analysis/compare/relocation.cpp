#include "analysis/compare/relocation.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace msleaks::analysis::inline compare {
namespace {

using Roots = std::pair<std::string_view, std::string_view>; // the parts of two paths before their common end

constexpr size_t kMostMoves = 64;
constexpr size_t kMostVotes = 4096; // a function that so many files have does not show where one of them is now

// Splits the paths at a slash. For "/home/me/net/src/x.c" and "/build/src/x.c", returns "/home/me/net" and "/build".
Roots rootsOf(std::string_view before, std::string_view now) {
  if (before == now)
    return {};
  while (true) {
    const std::string_view name = baseName(before);
    if (name != baseName(now) || before.empty() || now.empty())
      return {before, now};
    const auto withoutName = [&](std::string_view path) {
      path.remove_suffix(name.size());
      if (path.ends_with('/'))
        path.remove_suffix(1);
      return path;
    };
    before = withoutName(before);
    now = withoutName(now);
  }
}

template <class F> void forEachPlace(Relocation::Lists lists, F f) {
  for (const std::span<const PlaceFigures> list : lists)
    for (const PlaceFigures &place : list)
      f(place);
}

} // namespace

Relocation::Relocation(Lists before, Lists now) {
  std::set<std::string_view> old_files;
  forEachPlace(before, [&](const PlaceFigures &place) { old_files.insert(place.file); });
  forEachPlace(
      now, [&](const PlaceFigures &place) { (old_files.contains(place.file) ? kept_ : fresh_).insert(place.file); });

  using Function = std::pair<std::string_view, std::string_view>; // the name of the file, and the function
  using Files = std::set<std::string_view>;
  std::map<Function, std::pair<Files, Files>> files; // files that only `before` has, and files that only `now` has
  const auto filesOf = [&](const PlaceFigures &place) -> std::pair<Files, Files> & {
    return files[{baseName(place.file), place.function}];
  };
  std::map<Roots, size_t> votes;
  forEachPlace(before, [&](const PlaceFigures &place) {
    if (kept_.contains(place.file))
      ++votes[Roots()];
    else if (!place.file.empty())
      filesOf(place).first.insert(place.file);
  });
  forEachPlace(now, [&](const PlaceFigures &place) {
    if (fresh_.contains(place.file))
      filesOf(place).second.insert(place.file);
  });
  for (const auto &[function, both] : files)
    if (both.first.size() * both.second.size() <= kMostVotes)
      for (const std::string_view old_file : both.first)
        for (const std::string_view new_file : both.second)
          ++votes[rootsOf(old_file, new_file)];
  // Moves with equal votes keep their order, so "no move" comes first.
  std::vector<std::pair<Roots, size_t>> moves(votes.begin(), votes.end());
  std::stable_sort(moves.begin(), moves.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  moves.resize(std::min(moves.size(), kMostMoves));
  for (const auto &[roots, count] : moves)
    moves_.push_back({std::string(roots.first), std::string(roots.second)});
}

std::string Relocation::Move::of(const std::string &file) const {
  if (from == to)
    return file;
  const auto joined = [&](std::string_view rest) {
    return to.empty() ? std::string(rest) : to + "/" + std::string(rest);
  };
  if (from.empty())
    return file.starts_with('/') ? file : joined(file);
  return file.starts_with(from + "/") ? joined(std::string_view(file).substr(from.size() + 1)) : file;
}

std::string Relocation::of(const std::string &file) const {
  if (file.empty() || moves_.empty() || kept_.contains(file))
    return file;
  for (const Move &move : moves_)
    if (std::string moved = move.of(file); fresh_.contains(moved))
      return moved;
  return moves_.front().of(file);
}

} // namespace msleaks::analysis::inline compare
