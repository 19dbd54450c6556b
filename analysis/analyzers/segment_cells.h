// The parts of a pool's segment, drawn as equal cells (result/pictures.h). Its size is bounded, however many parts
// there are.
#pragma once

#include "analysis/live/part_map.h"
#include "analysis/result/pictures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// Cells that follow each other, and look the same.
struct CellRun {
  uint32_t cells = 0;
  uint64_t used_bytes = 0; // in all of them
  CohortId cohort;         // of the part with the most bytes in them; none = nothing is used
};

// The begin of a cell, from the segment's begin. A segment of fewer bytes than cells has empty cells.
constexpr uint64_t beginOfCell(uint64_t cell, uint64_t bytes) {
  return bytes / SegmentMap::kCells * cell + bytes % SegmentMap::kCells * cell / SegmentMap::kCells;
}

// The segment has `bytes`, from `begin` on. Two cells look the same if they are full of one cohort, or empty.
inline std::vector<CellRun> cellsOf(const PartMap::Parts &parts, uint64_t begin, uint64_t bytes) {
  struct Cell {
    uint64_t used_bytes = 0, most_bytes = 0;
    CohortId cohort;
  };
  std::array<Cell, SegmentMap::kCells> cells{};
  size_t first = 0; // the cell that contains the part's begin: parts are ascending
  for (const auto &[address, part] : parts) {
    const uint64_t from = std::min(address - begin, bytes), to = from + std::min(part.bytes, bytes - from);
    while (first + 1 < cells.size() && beginOfCell(first + 1, bytes) <= from)
      ++first;
    for (size_t at = first; at < cells.size() && beginOfCell(at, bytes) < to; ++at) {
      const uint64_t in_cell =
          std::min(to, beginOfCell(at + 1, bytes)) - std::min(to, std::max(from, beginOfCell(at, bytes)));
      cells[at].used_bytes += in_cell;
      if (in_cell > cells[at].most_bytes) {
        cells[at].most_bytes = in_cell;
        cells[at].cohort = part.cohort;
      }
    }
  }
  const auto isPlain = [&](size_t at) {
    return cells[at].used_bytes == 0 || cells[at].used_bytes == beginOfCell(at + 1, bytes) - beginOfCell(at, bytes);
  };
  std::vector<CellRun> runs;
  for (size_t at = 0; at < cells.size(); ++at) {
    const bool continues = at != 0 && isPlain(at) && isPlain(at - 1) && cells[at].cohort == cells[at - 1].cohort &&
                           (cells[at].used_bytes == 0) == (cells[at - 1].used_bytes == 0);
    if (!continues)
      runs.push_back({.cohort = cells[at].cohort});
    ++runs.back().cells;
    runs.back().used_bytes += cells[at].used_bytes;
  }
  return runs;
}

} // namespace msleaks::analysis::inline analyzers
