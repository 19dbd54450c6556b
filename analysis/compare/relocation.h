// Finds where the source files of one run lie in another run, whose program may have been built elsewhere.
#pragma once

#include "analysis/compare/place_figures.h"

#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

// Each folder may have moved by itself. For example, a library's sources moved, but not the sources of the program that
// uses the library.
class Relocation {
public:
  using Lists = std::initializer_list<std::span<const PlaceFigures>>; // the places of one run
  // Finds the moves by files that have the same name and a function of the same name.
  Relocation(Lists before, Lists now);
  // Returns the path that a file of the first run has in the second run. If no place of the second run is in the file,
  // assumes that the file has moved like most other files.
  std::string of(const std::string &file) const;

private:
  struct Move {
    std::string from, to; // folders; equal: nothing has moved
    std::string of(const std::string &file) const;
  };
  std::vector<Move> moves_;            // the move of most files comes first
  std::set<std::string> kept_, fresh_; // files of the second run: also in the first run; not in the first run
};

} // namespace msleaks::analysis::inline compare
