// A frame as lines of text, for a terminal of any width and for pipes.
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

// Most first.
void sortRows(Frame &, FrameSort);

// Lines are printable and no wider than the style's columns.
std::vector<std::string> headOf(const Frame &, const FrameStyle &);
std::string headingsOf(const FrameStyle &);
std::string lineOf(const Frame &, const FrameRow &, const FrameStyle &);

// For programs (docs/top.md), one object.
std::string jsonOf(const Frame &, const std::string &run);

} // namespace msleaks::analysis::inline watch
