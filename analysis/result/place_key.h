// The key of a place: what a reader of the source would tell it by. It is the same in every build and on every machine,
// and does not change when lines move.
#pragma once

#include "analysis/result/result.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline result {

struct PlaceKey {
  // The file and its folder ("src/net.cpp"), as checkouts lie in different folders. Without a source file: the name of
  // the library, without version.
  std::string file;
  // Without a source file and a function: the offset in the library.
  std::string function;
  std::string variable, type, callee;
  // Tells places with the same names apart: 0 for the first one in the file.
  uint32_t ordinal = 0;

  auto operator<=>(const PlaceKey &) const = default;
};

// The key with ordinal 0: only a list of places tells the ordinals.
PlaceKey keyOf(const SiteLine &);

// All names and the ordinal, a line each.
std::string textOf(const PlaceKey &);

// A number for a path: the functions of its calls. 0 = it has no calls.
uint64_t idOf(const PathLine &);

} // namespace msleaks::analysis::inline result
