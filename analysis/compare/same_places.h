// Which places of one run are those of another one, whose program may have been edited and built elsewhere since.
#pragma once

#include "analysis/result/result.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline compare {

// A place with its blocks, as two runs are compared: by the names of the source, which other builds and machines share.
// Blocks of a place. Outside of the user's own code, all places of an image are one, and only `library` is known.
struct PlaceFigures {
  bool own = false;
  std::string file, function, variable, type, callee, library, heap, child;
  uint32_t line = 0, column = 0;
  uint64_t offset = 0; // in the library, of a place without a line
  uint64_t bytes = 0, count = 0;
  uint64_t way = 0; // a number for the functions of all paths to the place; 0 = not all of them are known
};

// `heap`: the heap of the blocks; empty if they may be of several.
PlaceFigures figuresOf(const SiteLine &line, const char *heap);

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

} // namespace msleaks::analysis::inline compare
