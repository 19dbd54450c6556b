// Formats a frame as lines of text, for terminals of any width and for pipes, and as JSON.
#pragma once

#include "analysis/watch/frame.h"

#include <cstddef>
#include <string>
#include <vector>

namespace msleaks::analysis::inline watch {

enum class FrameSort : uint8_t { Bytes, Growth, Count, Peak };

struct FrameStyle {
  size_t columns = SIZE_MAX;
  FrameSort sort = FrameSort::Bytes;
  Split split;
};

// Sorts from the largest value.
void sortRows(Frame &, FrameSort);

// The lines contain only printable characters, and fit the columns of the style.
std::vector<std::string> headOf(const Frame &, const FrameStyle &);
std::string headingsOf(const FrameStyle &);
std::string lineOf(const Frame &, const FrameRow &, const FrameStyle &);

// Returns one JSON object for programs (docs/top.md).
std::string jsonOf(const Frame &, const std::string &run);

} // namespace msleaks::analysis::inline watch
