// The key of a place, made of names that a reader of the source sees. It is the same in each build and on each machine.
// It does not change when lines move.
#pragma once

#include "analysis/result/result.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline result {

struct PlaceKey {
  // The file and its folder ("src/net.cpp"), because checkouts are in different folders. If there is no source file:
  // the name of the library, without its version.
  std::string file;
  // If there is no source file and no function name: the offset in the library.
  std::string function;
  std::string variable, type, callee;
  // The number of a place among the places with the same names: 0 for the first one in the file.
  uint32_t ordinal = 0;

  auto operator<=>(const PlaceKey &) const = default;
};

// The key with ordinal 0, because an ordinal depends on all places of a list.
PlaceKey keyOf(const SiteLine &);

// All names and the ordinal, each in a line.
std::string textOf(const PlaceKey &);

// A number for a path, computed from the functions of its calls. 0 = it has no calls.
uint64_t idOf(const PathLine &);

} // namespace msleaks::analysis::inline result
