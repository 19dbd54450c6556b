// The blocks of a line by their path, and the names of its calls, for flame graphs and for formats of other programs.
#pragma once

#include "analysis/result/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::inline text {

struct PathBlocks {
  std::vector<const SiteText *> calls; // the allocator's caller first; at least one
  uint64_t bytes = 0, count = 0;
};

// Returns the blocks of each path of the line. Blocks of paths that the line leaves out have only the line's own place.
// So the result has all blocks of the line. The calls belong to the line.
std::vector<PathBlocks> blocksByPath(const SiteLine &);

// Returns the function of the call, or of a place where it was inlined. If the function is not known: the file and
// line, or the library, or "(unknown place)".
std::string functionOf(const SiteText &call, const FrameText &frame);

} // namespace msleaks::analysis::inline text
