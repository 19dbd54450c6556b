// Which places of one run are those of another one, whose program may have been edited and built elsewhere since.
#pragma once

#include "analysis/compare/place_figures.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace msleaks::analysis {

// Files may lie in another folder, as long as most have moved together.
class Relocation {
public:
  // As most files of these places say.
  Relocation(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now);
  // The path that a file of before has now.
  std::string of(const std::string &file) const;

private:
  std::string from_, to_; // folders; equal: nothing has moved
};

// Places by their index in the two lists, each once.
struct SamePlaces {
  std::vector<std::pair<size_t, size_t>> pairs; // before, now; ascending by the latter
  std::vector<size_t> fresh;                    // only now
  std::vector<size_t> gone;                     // only before
};

// A place is known by its source file, its function, and what the block is for, not by its line. Of several that agree
// in these there are as many fresh ones as there are more now; lines only say which. A function may have moved into
// another file, or have another name now. Then its places are the same if their blocks have the same purpose and size.
SamePlaces samePlaces(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now, const Relocation &);

} // namespace msleaks::analysis
