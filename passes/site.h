// A site is an instrumented call: its place in the source, and its kind. Each site becomes a row of the table of sites
// (site_table.h).
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
  bool wants_path = false; // the report needs the call path: no line is the user's own (SiteFlag::kForeignPlace)
  abi::Verb verb{};
  abi::Family family{};
  abi::Heap heap{};

  // Returns a hash of place, inline chain, callee and ordinal. Each build of the same source with the same compiler and
  // options computes the same hash.
  uint64_t id() const;
};

// Makes a site from the call's debug location, its mark (marks.h) and the function around the call.
Site describe(const FoundCall &found, const WrapperCalls &wrappers);

} // namespace msleaks::passes
