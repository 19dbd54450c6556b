// What `msleaks check` compares of a run, and the file that keeps it (docs/check.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/compare/place_figures.h"
#include "analysis/report/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis {

inline constexpr uint32_t kFiguresVersion = 1;

struct PeakFigures {
  uint64_t bytes = 0; // over the physical heaps of all processes
  std::vector<PlaceFigures> places;
};

struct LeakFigures {
  uint64_t bytes = 0, count = 0;           // of physical heaps
  uint64_t pool_bytes = 0, pool_count = 0; // parts of blocks that other heaps have
  std::vector<PlaceFigures> places;
};

struct RunFigures {
  std::vector<std::string> command;
  std::optional<int> exit;       // of the first process, as a shell reports it
  std::vector<std::string> gaps; // why the figures may not be those of the whole program; none: they are
  PeakFigures peak;
  LeakFigures leaks;
};

RunFigures figuresOf(const Report &);

std::string formatFigures(const RunFigures &);
// Whether the text begins as one of formatFigures(). The rest may be damaged.
bool isFigures(std::string_view text);
// `where` names the file in the error.
Result<RunFigures> parseFigures(std::string_view text, const std::string &where);

} // namespace msleaks::analysis
