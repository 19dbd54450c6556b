// The modules of PyTorch that call paths show. A path names the module of each call of a module relative to the next
// outer one.
#pragma once

#include "analysis/places/path_answers.h"
#include "analysis/places/site.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline places {

class PathModules {
public:
  explicit PathModules(SiteCatalog &catalog) : catalog_(catalog), answers_(catalog, 0) {}

  // "Net.layers.3.attn" if the innermost call of a module in the path is of this module of a `Net`. Empty if the path
  // calls no module, or if its innermost call of a module is outside of a backward pass that runs now.
  std::string_view of(SiteId);

private:
  uint32_t inside(uint32_t outer, SiteId call);
  uint32_t numberOf(std::string name);

  SiteCatalog &catalog_;
  PathAnswers answers_; // indices in names_
  std::deque<std::string> names_{""};
  std::map<std::string, uint32_t, std::less<>> numbers_;
};

} // namespace msleaks::analysis::inline places
