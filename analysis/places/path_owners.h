// The owners that call paths show. A block that PyTorch allocates in a call of an operator belongs to the operator. A
// block that an import of a Python package allocates belongs to `imports`.
#pragma once

#include "analysis/places/path_answers.h"
#include "analysis/places/site.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline places {

inline constexpr std::string_view kImportsOwner = "imports";

class PathOwners {
public:
  explicit PathOwners(SiteCatalog &catalog) : catalog_(catalog), answers_(catalog, kNone) {}

  // "pytorch@operator@aten::linear" if the path contains a call of this operator, and "pytorch@backward@AddmmBackward0"
  // if it contains this node of the backward pass. The outermost of them counts: the user's line calls it, and the
  // others run inside it. "imports" if the path contains an import of Python, and no later call of the user's Python
  // code. Empty if the path contains none of these.
  std::string_view of(SiteId);

private:
  // The owner of a node's blocks: kNone, or kImports plus an index in names_. kBackward itself means a part of a
  // backward pass whose node is not known yet.
  using Owner = uint32_t;
  static constexpr Owner kNone = 0, kImports = 1, kBackward = 2;

  Owner inside(Owner outer, SiteId call);
  Owner insidePython(Owner outer, const Site &call) const;
  Owner numberOf(std::string name);

  SiteCatalog &catalog_;
  PathAnswers answers_;
  std::deque<std::string> names_{std::string(kImportsOwner), "pytorch@backward"}; // a deque, so that texts never move
};

} // namespace msleaks::analysis::inline places
