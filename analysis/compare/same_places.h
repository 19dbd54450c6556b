// Which places of one run are those of another one, whose program may have been edited and built elsewhere since.
#pragma once

#include "analysis/compare/place_figures.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis {

// Where the files of before lie now. Each folder may have moved by itself: a library's sources, but not those of the
// program that uses the library.
class Relocation {
public:
  // As the files with the same name and function say.
  Relocation(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now);
  // The path that a file of before has now. A file that no place of now has moves as most files have moved.
  std::string of(const std::string &file) const;

private:
  struct Move {
    std::string from, to; // folders; equal: nothing has moved
    std::string of(const std::string &file) const;
  };
  std::vector<Move> moves_;            // what most files say comes first
  std::set<std::string> kept_, fresh_; // files of now: those that before had, too, and others
};

// Places by their index in the two lists, each once.
struct SamePlaces {
  std::vector<std::pair<size_t, size_t>> pairs; // before, now; ascending by the latter
  std::vector<size_t> fresh;                    // only now
  std::vector<size_t> gone;                     // only before
};

// A place is known by the paths that led to it; else by its source file, its function, and what the block is for. Lines
// only say which of several places is the same. A function may have moved into another file, or have another name now.
// docs/compare.md lists these rules in their order.
SamePlaces samePlaces(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now, const Relocation &);

} // namespace msleaks::analysis
