#include "analysis/base/text.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/places/function_name.h"
#include "analysis/text/parts.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostCauses = 3, kWidestName = 60;

// Returns a short name like "Index::grow".
std::string functionText(const std::string &function) {
  return cutMiddle(briefName(plainName(printable(function))), kWidestName);
}

// File and line, or the library of a place without a file; the function; the variable.
using CauseKey = std::tuple<std::string, uint32_t, std::string, std::string>;
CauseKey keyOf(const ComparedPlace &place) {
  const SiteText &site = place.site;
  const std::string &file = site.file.empty() ? site.library : site.file;
  return {std::string(baseName(file)), site.line, functionText(site.function), place.variable};
}

// A place that a sentence has already named.
using ToldPlace = std::tuple<std::string, std::string, std::string>;
ToldPlace toldPlaceOf(const ComparedPlace &place) {
  const std::string &file = place.site.file;
  return {std::string(baseName(file.empty() ? place.site.library : file)), place.site.function, place.variable};
}

// All places of one line. Instances of a template are separate places.
struct Cause {
  std::vector<const ComparedPlace *> places;
  BlockSum before, after;

  int64_t changeBytes() const { return static_cast<int64_t>(after.bytes - before.bytes); }
};

// Returns the causes, largest change first.
std::vector<Cause> causesOf(const ComparedMemory &memory) {
  std::map<CauseKey, Cause> by_key;
  for (const ComparedPlace &place : memory.places) {
    if (place.changeBytes() == 0)
      break; // Places are sorted by change, so all others are 0.
    Cause &cause = by_key[keyOf(place)];
    cause.places.push_back(&place);
    cause.before += place.before.value_or(BlockSum{});
    cause.after += place.after.value_or(BlockSum{});
  }
  std::vector<Cause> causes;
  for (auto &[key, cause] : by_key)
    if (cause.changeBytes() != 0)
      causes.push_back(std::move(cause));
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause &a, const Cause &b) { return sizeOf(a.changeBytes()) > sizeOf(b.changeBytes()); });
  return causes;
}

// Returns a text like "conv.cpp:218 in forward".
std::string frameText(const FrameText &frame) {
  std::string function = functionText(frame.function);
  if (frame.file.empty())
    return function;
  const std::string file = cutBegin(printable(baseName(frame.file)), kWidestName);
  const std::string line = frame.line == 0 ? file : fmt::format("{}:{}", file, frame.line);
  return function.empty() ? line : fmt::format("{} in {}", line, function);
}

// Returns a text like "conv.cpp:218 in forward (`output`) < net.cpp:40 in run". If the caller is in the same file, the
// text has only its name.
std::string whereOf(const Cause &cause) {
  const ComparedPlace &place = *cause.places.front();
  std::string text = frameText(place.site);
  if (place.site.file.empty())
    text = place.site.function.empty() ? analysis::placeOf(place.site, kWidestName)
                                       : fmt::format("{} in {}", printable(baseName(place.site.library)), text);
  if (!place.variable.empty())
    text += fmt::format(" (`{}`)", cutEnd(printable(place.variable), kWidestName));
  if (cause.places.size() == 1 && place.caller && place.caller->function != "main")
    text += " < " +
            (place.caller->file == place.site.file ? functionText(place.caller->function) : frameText(*place.caller));
  return text;
}

// Says why the bytes of a place changed: another number of blocks, or blocks of another size.
std::string reasonOf(const Cause &cause) {
  const BlockSum &before = cause.before, &after = cause.after;
  if (before.count == 0)
    return "new";
  if (after.count == 0)
    return "gone";
  const uint64_t old_size = before.bytes / before.count, new_size = after.bytes / after.count;
  const double ratio = static_cast<double>(new_size) / static_cast<double>(std::max<uint64_t>(old_size, 1));
  const auto isAbout = [&](double other) { return ratio > 0.9975 * other && ratio < 1.0025 * other; };
  if (before.count != after.count) {
    // If the average size hardly changes, only the number of blocks is said. But fewer blocks do not explain more
    // bytes.
    const bool is_count = (after.count < before.count) == (after.bytes < before.bytes) && ratio < 2 && ratio > 0.5;
    return is_count ? fmt::format("{} instead of {}", blocksText(after.count), countText(before.count))
                    : fmt::format("{} of {} instead of {} of {}", blocksText(after.count), bytesText(new_size),
                                  countText(before.count), bytesText(old_size));
  }
  if (isAbout(2) || isAbout(0.5))
    return fmt::format("{} the bytes for each block", ratio > 1 ? "twice" : "half");
  if (ratio >= 1.1 && ratio < 100)
    return fmt::format("{:.3g} times the bytes for each block", ratio);
  return before.count == 1 ? fmt::format("{} instead of {}", bytesText(new_size), bytesText(old_size))
                           : fmt::format("{} instead of {} for each block", bytesText(new_size), bytesText(old_size));
}

const char *directionOf(int64_t change) { return change < 0 ? "less" : "more"; }

// Names the places with at least a tenth of the change, in its direction. If places in the other direction together
// have more than a tenth of the change, names places of both directions. Adds the places to `told`.
std::string causesText(const ComparedMemory &memory, const std::vector<Cause> &causes, std::set<ToldPlace> &told) {
  const int64_t change = memory.changeBytes();
  uint64_t against = 0;
  for (const Cause &cause : causes)
    against += (cause.changeBytes() < 0) == (change < 0) ? 0 : sizeOf(cause.changeBytes());
  const bool is_mixed = change == 0 || against > sizeOf(change) / 10;
  const uint64_t least =
      std::max<uint64_t>((is_mixed && !causes.empty() ? sizeOf(causes.front().changeBytes()) : sizeOf(change)) / 10, 1);
  std::vector<std::string> parts;
  for (const Cause &cause : causes) {
    const int64_t part = cause.changeBytes();
    if (parts.size() == kMostCauses || sizeOf(part) < least || (!is_mixed && (part < 0) != (change < 0)))
      continue;
    told.insert(toldPlaceOf(*cause.places.front()));
    const std::string how_much = is_mixed ? std::string(" ") + directionOf(part) : parts.empty() ? " of it" : "";
    parts.push_back(fmt::format("{}{} at {}, {}", bytesText(sizeOf(part)), how_much, whereOf(cause), reasonOf(cause)));
  }
  return parts.empty() ? ", in many places" : fmt::format(": {}", fmt::join(parts, "; "));
}

std::string whenText(const std::string &at) {
  return at == "peak" ? "at its peak" : at == "end" ? "at its end" : fmt::format("at {}", printable(at));
}

// Returns a text like "leaks 3 KiB less: …". The text leaves the places out if earlier text has named all of them.
std::string leaksText(const ComparedMemory &leaks, const char *what, std::set<ToldPlace> &told) {
  const std::vector<Cause> causes = causesOf(leaks);
  const bool are_told = std::all_of(causes.begin(), causes.end(), [&](const Cause &cause) {
    return told.contains(toldPlaceOf(*cause.places.front()));
  });
  const int64_t change = leaks.changeBytes();
  return fmt::format("leaks {} {}{}{}", bytesText(sizeOf(change)), directionOf(change), what,
                     are_told ? "" : causesText(leaks, causes, told));
}

bool isMuch(uint64_t before, uint64_t after) {
  constexpr uint64_t kOneIn = 100; // a smaller change may be chance
  const uint64_t larger = std::max(before, after);
  return before != after && larger - std::min(before, after) >= larger / kOneIn;
}

// Says how much more or less the second run allocates in all, if the difference is large.
std::string allocatedText(const ComparedMemory &allocated) {
  BlockSum before, after;
  for (const ComparedPlace &place : allocated.places) {
    before += place.before.value_or(BlockSum{});
    after += place.after.value_or(BlockSum{});
  }
  const int64_t change = allocated.changeBytes();
  if (change == 0 || !(isMuch(before.bytes, after.bytes) || isMuch(before.count, after.count)))
    return {};
  std::set<ToldPlace> told;
  return fmt::format(" In all, it allocates {} {}{}.", bytesText(sizeOf(change)), directionOf(change),
                     causesText(allocated, causesOf(allocated), told));
}

} // namespace

std::string sentenceOf(const RunComparison &comparison) {
  if (!comparison.differs())
    return "B needs the same memory as A." + allocatedText(comparison.allocated);
  const std::string when = whenText(comparison.at);
  const std::vector<Cause> causes = causesOf(comparison.alive);
  std::set<ToldPlace> told;
  std::string text;
  if (const int64_t change = comparison.alive.changeBytes(); change != 0)
    text = fmt::format("B needs {} {} {}{}.", bytesText(sizeOf(change)), directionOf(change), when,
                       causesText(comparison.alive, causes, told));
  else if (!causes.empty())
    text = fmt::format("B needs as many bytes as A {}, but not from the same places{}.", when,
                       causesText(comparison.alive, causes, told));
  std::string leaked;
  if (comparison.leaks.changeBytes() != 0)
    leaked = leaksText(comparison.leaks, "", told);
  if (comparison.pool_leaks.changeBytes() != 0)
    leaked += (leaked.empty() ? "" : "; it ") + leaksText(comparison.pool_leaks, " in pools", told);
  if (text.empty())
    return leaked.empty() ? fmt::format("B needs as many bytes as A {}, but its memory differs.", when)
                          : fmt::format("B {}. It needs as many bytes as A {}.", leaked, when);
  return leaked.empty() ? text : fmt::format("{} It {}.", text, leaked);
}

} // namespace msleaks::analysis::inline compare
