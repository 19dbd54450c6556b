#include "analysis/compare/same_places.h"

#include "analysis/base/text.h"
#include "analysis/compare/renamed_functions.h"
#include "analysis/places/function_name.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace msleaks::analysis::inline compare {
namespace {

using Roots = std::pair<std::string_view, std::string_view>; // what two paths have before their common end

constexpr size_t kMostTries = 1'000'000;
constexpr size_t kMostMoves = 64;   // of folders
constexpr size_t kMostVotes = 4096; // of a function: one that so many files have says little about any of them

// At a slash: "/home/me/net" and "/build" of "/home/me/net/src/x.c" and "/build/src/x.c".
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

// Everything but the line that tells a place from others.
using Group = std::tuple<bool, std::string, std::string, std::string, std::string, std::string>;
using Purpose = std::tuple<std::string_view, std::string_view, std::string_view>;

Group groupOf(const PlaceFigures &place, std::string file) {
  const bool has_file = place.own && !file.empty();
  return {place.own,  std::move(file), place.function, has_file ? std::string() : place.library,
          place.heap, place.child};
}

Purpose purposeOf(const PlaceFigures &place) { return {place.variable, place.type, place.callee}; }

// What one of them does not know, as where a function was inlined into another one, does not tell them apart.
bool agree(const std::string &left, const std::string &right) { return left.empty() || right.empty() || left == right; }
// Another size of a type is another argument of the templates that keep its objects.
bool agreeInType(const PlaceFigures &a, const PlaceFigures &b) {
  return agree(a.type, b.type) || withoutTemplateArguments(a.type) == withoutTemplateArguments(b.type);
}

bool mayBeSame(const PlaceFigures &a, const PlaceFigures &b) {
  return agree(a.variable, b.variable) && agreeInType(a, b) && agree(a.callee, b.callee);
}

// The optimizer also decides which function of a library the program calls itself: another one may be inlined.
bool isLikelySame(const PlaceFigures &a, const PlaceFigures &b) {
  const bool has_same_blocks = a.bytes == b.bytes && a.count == b.count;
  return agree(a.variable, b.variable) && agree(a.type, b.type) &&
         (has_same_blocks || (a.line != 0 && a.line == b.line));
}

// A line, or where a place has none, where it is in its library.
int64_t positionOf(const PlaceFigures &place) {
  return place.line != 0 ? place.line : static_cast<int64_t>(place.offset);
}

class Pairing {
public:
  Pairing(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now) : before_(before), now_(now) {
    for (size_t i = 0; i < before.size(); ++i)
      found_.gone.push_back(i);
    for (size_t i = 0; i < now.size(); ++i)
      found_.fresh.push_back(i);
  }

  // Pairs places without a partner that have the same key. A place without a key (nullopt) is left.
  template <class KeyBefore, class KeyNow> void pairBy(KeyBefore keyBefore, KeyNow keyNow) {
    using Key = typename std::invoke_result_t<KeyNow, const PlaceFigures &>::value_type;
    std::map<Key, std::pair<std::vector<size_t>, std::vector<size_t>>> groups;
    std::vector<size_t> gone = std::exchange(found_.gone, {}), fresh = std::exchange(found_.fresh, {});
    for (const size_t index : gone) {
      const auto key = keyBefore(before_[index]);
      (key ? groups[*key].first : found_.gone).push_back(index);
    }
    for (const size_t index : fresh) {
      const auto key = keyNow(now_[index]);
      (key ? groups[*key].second : found_.fresh).push_back(index);
    }
    for (auto &[key, both] : groups)
      pair(std::move(both.first), std::move(both.second));
  }

  // The file in which most functions of a file are now. Only files of pairs are known.
  std::map<std::string, std::string> movedFiles() const {
    std::map<std::string, std::map<std::string, size_t>> votes;
    for (const auto &[old_index, new_index] : found_.pairs)
      ++votes[before_[old_index].file][now_[new_index].file];
    std::map<std::string, std::string> moved;
    for (const auto &[file, into] : votes)
      moved[file] = std::max_element(into.begin(), into.end(), [](const auto &a, const auto &b) {
                      return a.second < b.second;
                    })->first;
    return moved;
  }

  const SamePlaces &found() const { return found_; }

  SamePlaces take() {
    std::sort(found_.pairs.begin(), found_.pairs.end(), [](auto a, auto b) { return a.second < b.second; });
    std::sort(found_.fresh.begin(), found_.fresh.end());
    std::sort(found_.gone.begin(), found_.gone.end());
    return std::move(found_);
  }

private:
  // Those of equal purpose first; then those of which less is known.
  void pair(std::vector<size_t> before, std::vector<size_t> now) {
    std::map<Purpose, std::pair<std::vector<size_t>, std::vector<size_t>>> by_purpose;
    for (const size_t index : before)
      by_purpose[purposeOf(before_[index])].first.push_back(index);
    for (const size_t index : now)
      by_purpose[purposeOf(now_[index])].second.push_back(index);
    before.clear();
    now.clear();
    for (auto &[purpose, both] : by_purpose) {
      pairEqual(both.first, both.second);
      before.insert(before.end(), both.first.begin(), both.first.end());
      now.insert(now.end(), both.second.begin(), both.second.end());
    }
    pairFirst(before, now, mayBeSame);
    if (before.size() * now.size() <= kMostTries)
      pairFirst(before, now, isLikelySame);
    found_.fresh.insert(found_.fresh.end(), now.begin(), now.end());
    found_.gone.insert(found_.gone.end(), before.begin(), before.end());
  }

  // Pairs each place with the first one that is the same. Leaves those without a partner.
  void pairFirst(std::vector<size_t> &before, std::vector<size_t> &now,
                 bool (*isSame)(const PlaceFigures &, const PlaceFigures &)) {
    std::vector<size_t> left;
    for (const size_t index : now) {
      const auto same =
          std::find_if(before.begin(), before.end(), [&](size_t other) { return isSame(before_[other], now_[index]); });
      if (same == before.end()) {
        left.push_back(index);
        continue;
      }
      found_.pairs.emplace_back(*same, index);
      before.erase(same);
    }
    now = std::move(left);
  }

  // Those that lines were put before or taken from first, as far as most of them moved; then in their order. Leaves
  // those without a partner.
  void pairEqual(std::vector<size_t> &before, std::vector<size_t> &now) {
    const auto sort = [](std::vector<size_t> &list, std::span<const PlaceFigures> places) {
      std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
        return std::tuple(positionOf(places[a]), places[a].column) <
               std::tuple(positionOf(places[b]), places[b].column);
      });
    };
    sort(before, before_);
    sort(now, now_);
    const int64_t shift = shiftOf(before, now);
    takePairs(before, now, [&](size_t a, size_t b) { return positionOf(now_[b]) - positionOf(before_[a]) - shift; });
    takePairs(before, now, [](size_t, size_t) { return 0; });
  }

  // By how many lines most of these places have moved.
  int64_t shiftOf(const std::vector<size_t> &before, const std::vector<size_t> &now) const {
    constexpr size_t kNeighbours = 64; // so that ten thousand places of a generated function cost no hundred million
    std::map<int64_t, size_t> votes;
    for (size_t i = 0; i < now.size(); ++i) {
      const size_t first = i > kNeighbours ? i - kNeighbours : 0;
      for (size_t k = first; k < std::min(before.size(), i + kNeighbours); ++k)
        ++votes[positionOf(now_[now[i]]) - positionOf(before_[before[k]])];
    }
    const auto most = std::max_element(votes.begin(), votes.end(), [](const auto &a, const auto &b) {
      return std::tuple(a.second, -std::abs(a.first)) < std::tuple(b.second, -std::abs(b.first));
    });
    return most == votes.end() ? 0 : most->first;
  }

  // Pairs those that are 0 apart, in their order; negative: the later one is too early.
  template <class Distance> void takePairs(std::vector<size_t> &before, std::vector<size_t> &now, Distance distance) {
    std::vector<size_t> left_before, left_now;
    size_t a = 0, b = 0;
    while (a < before.size() && b < now.size()) {
      const int64_t apart = distance(before[a], now[b]);
      if (apart == 0)
        found_.pairs.emplace_back(before[a++], now[b++]);
      else if (apart < 0)
        left_now.push_back(now[b++]);
      else
        left_before.push_back(before[a++]);
    }
    left_before.insert(left_before.end(), before.begin() + static_cast<ptrdiff_t>(a), before.end());
    left_now.insert(left_now.end(), now.begin() + static_cast<ptrdiff_t>(b), now.end());
    before = std::move(left_before);
    now = std::move(left_now);
  }

  std::span<const PlaceFigures> before_, now_;
  SamePlaces found_;
};

// The blocks of a place. Places of other names are taken for the same only if they have the same blocks.
using Blocks = std::pair<uint64_t, uint64_t>;
Blocks blocksOf(const PlaceFigures &place) { return {place.bytes, place.count}; }

// The same paths led to the blocks. The optimizer decides which function of a path is the place: one that was inlined
// into its caller may count as a wrapper, and the same one in a plain build does not.
using SameWay = std::tuple<uint64_t, std::string, std::string>;
std::optional<SameWay> sameWayOf(const PlaceFigures &place) {
  if (!place.own || place.way == 0)
    return {};
  return SameWay{place.way, place.heap, place.child};
}

// A function that moved into another file, with its places.
using MovedFunction = std::tuple<std::string, std::string, std::string, Blocks>;
std::optional<MovedFunction> movedFunctionOf(const PlaceFigures &place) {
  if (!place.own || place.function.empty())
    return {};
  return MovedFunction{place.function, place.heap, place.child, blocksOf(place)};
}

// A function that has another name now. The purpose of its places must be the same, too.
using RenamedFunction = std::tuple<std::string, std::string, std::string, Purpose, Blocks>;
std::optional<RenamedFunction> renamedFunctionOf(const PlaceFigures &place, std::string file) {
  if (!place.own || file.empty() || purposeOf(place) == Purpose{})
    return {};
  return RenamedFunction{std::move(file), place.heap, place.child, purposeOf(place), blocksOf(place)};
}

// The functions that have places, with their files.
class Functions {
public:
  template <class FileOf> Functions(std::span<const PlaceFigures> places, FileOf fileOf) {
    for (const PlaceFigures &place : places)
      known_.emplace(fileOf(place), place.function);
  }
  bool has(const std::string &file, const std::string &function) const { return known_.contains({file, function}); }

private:
  std::set<FunctionKey> known_;
};

// Pairs places of functions that were renamed or moved, although their blocks are others now.
template <class FileNow>
void pairRenamed(Pairing &pairing, std::span<const PlaceFigures> before, std::span<const PlaceFigures> now,
                 FileNow fileNow) {
  const auto fileOf = [](const PlaceFigures &place) { return place.file; };
  const Functions old_functions(before, fileNow), new_functions(now, fileOf);
  FunctionPurposes gone, fresh;
  const auto add = [](const PlaceFigures &place, const std::string &file, const Functions &others,
                      FunctionPurposes &to) {
    if (place.own && !file.empty() && !place.function.empty() && !others.has(file, place.function))
      to[{file, place.function}].emplace(place.variable, place.type, place.callee);
  };
  for (const size_t index : pairing.found().gone)
    add(before[index], fileNow(before[index]), new_functions, gone);
  for (const size_t index : pairing.found().fresh)
    add(now[index], now[index].file, old_functions, fresh);
  FunctionVotes votes;
  for (const auto &[old_index, new_index] : pairing.found().pairs)
    if (const PlaceFigures &a = before[old_index], &b = now[new_index]; a.own && a.function != b.function)
      ++votes[{{fileNow(a), a.function}, {b.file, b.function}}];
  std::set<std::string> new_files;
  for (const PlaceFigures &place : now)
    new_files.insert(place.file);
  for (const PlaceFigures &place : before)
    new_files.erase(fileNow(place));
  const auto renamed = renamedFunctions(gone, fresh, votes, new_files);
  std::set<FunctionKey> into;
  for (const auto &[from, to] : renamed)
    into.insert(to);
  using Key = std::tuple<FunctionKey, std::string, std::string>;
  pairing.pairBy(
      [&](const PlaceFigures &place) {
        const auto at = renamed.find({fileNow(place), place.function});
        return place.own && at != renamed.end() ? std::optional(Key{at->second, place.heap, place.child})
                                                : std::nullopt;
      },
      [&](const PlaceFigures &place) {
        FunctionKey function{place.file, place.function};
        return place.own && into.contains(function) ? std::optional(Key{std::move(function), place.heap, place.child})
                                                    : std::nullopt;
      });
}

} // namespace

Relocation::Relocation(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now) {
  std::set<std::string_view> old_files;
  for (const PlaceFigures &place : before)
    old_files.insert(place.file);
  for (const PlaceFigures &place : now)
    (old_files.contains(place.file) ? kept_ : fresh_).insert(place.file);

  using Function = std::pair<std::string_view, std::string_view>; // and the name of its file
  using Files = std::set<std::string_view>;
  std::map<Function, std::pair<Files, Files>> files; // that only before has, and that only now has
  const auto filesOf = [&](const PlaceFigures &place) -> std::pair<Files, Files> & {
    return files[{baseName(place.file), place.function}];
  };
  std::map<Roots, size_t> votes;
  for (const PlaceFigures &place : before)
    if (kept_.contains(place.file))
      ++votes[Roots()];
    else if (!place.file.empty())
      filesOf(place).first.insert(place.file);
  for (const PlaceFigures &place : now)
    if (fresh_.contains(place.file))
      filesOf(place).second.insert(place.file);
  for (const auto &[function, both] : files)
    if (both.first.size() * both.second.size() <= kMostVotes)
      for (const std::string_view old_file : both.first)
        for (const std::string_view new_file : both.second)
          ++votes[rootsOf(old_file, new_file)];
  // If several have the same number, the first comes first: the one without a move.
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

SamePlaces samePlaces(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now,
                      const Relocation &relocation) {
  Pairing pairing(before, now);
  pairing.pairBy(sameWayOf, sameWayOf);
  pairing.pairBy([&](const PlaceFigures &place) { return std::optional(groupOf(place, relocation.of(place.file))); },
                 [](const PlaceFigures &place) { return std::optional(groupOf(place, place.file)); });
  pairing.pairBy(movedFunctionOf, movedFunctionOf);
  const std::map<std::string, std::string> moved = pairing.movedFiles();
  const auto fileNow = [&](const PlaceFigures &place) {
    const auto at = moved.find(place.file);
    return at != moved.end() ? at->second : relocation.of(place.file);
  };
  const auto fileOf = [](const PlaceFigures &place) { return place.file; };
  const Functions old_functions(before, fileNow), new_functions(now, fileOf);
  pairing.pairBy(
      [&](const PlaceFigures &place) {
        const std::string file = fileNow(place);
        return new_functions.has(file, place.function) ? std::nullopt : renamedFunctionOf(place, file);
      },
      [&](const PlaceFigures &place) {
        return old_functions.has(place.file, place.function) ? std::nullopt : renamedFunctionOf(place, place.file);
      });
  pairRenamed(pairing, before, now, fileNow);
  return pairing.take();
}

namespace {

uint64_t wayOf(const SiteLine &line) {
  std::set<uint64_t> ids; // the same path may be there twice, from two lines of a function
  for (const PathLine &path : line.paths)
    ids.insert(path.id);
  if (line.more_paths != 0 || ids.empty() || ids.contains(0))
    return 0;
  uint64_t way = 0;
  for (const uint64_t id : ids)
    way = way * 31 + id;
  return way;
}

} // namespace

PlaceFigures figuresOf(const SiteLine &line, const char *heap) {
  PlaceFigures place;
  place.own = line.own;
  place.library = baseName(line.site.library);
  place.heap = heap;
  place.child = line.child;
  place.bytes = line.bytes;
  place.count = line.count;
  if (!line.own)
    return place;
  place.file = line.site.file;
  place.line = line.site.line;
  place.column = line.site.column;
  place.function = line.site.function;
  place.variable = line.site.variable.empty() ? line.allocator.variable : line.site.variable;
  place.type = line.site.type.empty() ? line.allocator.type : line.site.type;
  place.callee = line.allocator.callee;
  place.way = wayOf(line);
  place.offset = line.site.file.empty() ? line.site.offset : 0;
  return place;
}

} // namespace msleaks::analysis::inline compare
