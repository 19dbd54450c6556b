// A site before it becomes a row of the table: the place of a call in the source, and its kind.
#pragma once

#include "find.h"
#include "source_place.h"
#include "wrappers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::passes {

struct Site {
  SourcePlace place;
  std::vector<SourcePlace> inlined_at; // innermost first
  std::string callee, type, variable;
  uint32_t ordinal = 0;
  bool wants_path = false; // no line of it says who wanted the block
  abi::Verb verb{};
  abi::Family family{};
  abi::Heap heap{};

  // Stable from build to build as long as the source stays: a hash of place, inline chain, callee and ordinal.
  uint64_t id() const;
};

// Makes a site from the call's debug location, its mark (marks.h) and the function around the call.
Site describe(const FoundCall &found, const WrapperCalls &wrappers);

} // namespace msleaks::passes
