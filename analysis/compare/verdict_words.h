// The words for the parts of a verdict, which the table and the file for JUnit share.
#pragma once

#include "analysis/base/text.h"
#include "analysis/compare/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

inline std::string numberText(const LimitGate &gate, uint64_t number) {
  return gate.in_bytes ? bytesText(number) : countText(number);
}

// Returns a text like "12.2 MiB (+2%)" or "none new".
inline std::string limitText(const LimitGate &gate) {
  if (!gate.most)
    return gate.rule;
  const bool is_percent = gate.rule.ends_with('%');
  return numberText(gate, *gate.most) + (is_percent ? fmt::format(" ({})", gate.rule) : "");
}

inline const char *titleOf(const LimitGate &gate) {
  if (gate.name == "leaks")
    return "leaked";
  if (gate.name == "pool-leaks")
    return "leaked in pools";
  return gate.name == "places" ? "leaking places" : "peak";
}

inline std::string gapsText(const std::vector<std::string> &gaps) {
  return gaps.empty() ? "complete" : printable(fmt::format("{}", fmt::join(gaps, "; ")));
}

// Returns for example "net.cpp:7:3", or the library of the place.
inline std::string nameOf(const PlaceFigures &place) {
  constexpr size_t kWidestPath = 80;
  std::string text = shortPath(place.file, kWidestPath);
  if (place.line != 0)
    text += fmt::format(":{}", place.line);
  if (place.line != 0 && place.column != 0)
    text += fmt::format(":{}", place.column);
  if (text.empty() && place.own && place.offset != 0)
    text = fmt::format("{}+{:#x}", place.library, place.offset);
  if (text.empty())
    text = place.library.empty() ? "(unknown place)" : place.library;
  return text;
}

} // namespace msleaks::analysis::inline compare
