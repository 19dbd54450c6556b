// The figures of a run that `msleaks check` compares, and the file with these figures (docs/check.md).
#pragma once

#include "analysis/base/json_fields.h"
#include "analysis/base/result.h"
#include "analysis/compare/same_places.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline compare {

inline constexpr uint32_t kFiguresVersion = 1;

struct PeakFigures {
  uint64_t bytes = 0; // sum over the physical heaps of all processes
  std::vector<PlaceFigures> places;
};

struct LeakFigures {
  uint64_t bytes = 0, count = 0;           // leaks of physical heaps
  uint64_t pool_bytes = 0, pool_count = 0; // leaks of pools; they are parts of blocks of physical heaps
  std::vector<PlaceFigures> places;
};

struct RunFigures {
  std::vector<std::string> command;
  std::optional<int> exit;       // status of the first process, as a shell reports it
  std::vector<std::string> gaps; // why the figures may not cover the whole program; empty: they cover it
  PeakFigures peak;
  LeakFigures leaks;
};

RunFigures figuresOf(const Report &);

std::string formatFigures(const RunFigures &);
// Whether the text begins like a text of formatFigures(). The rest may be damaged.
bool isFigures(std::string_view text);
// `where` names the file in the error.
Result<RunFigures> parseFigures(std::string_view text, const std::string &where);

// Names the fields of a place in JSON, for the file of `msleaks check --save` and for `--json` (docs/check.md).
template <class Visitor, IsOrConst<PlaceFigures> Place> void visitFields(Visitor &&visit, Place &place) {
  visit("own", place.own);
  visit("file", place.file);
  visit("line", place.line);
  visit("column", place.column);
  visit("function", place.function);
  visit("variable", place.variable);
  visit("type", place.type);
  visit("callee", place.callee);
  visit("library", place.library);
  visit("offset", place.offset);
  visit("heap", place.heap);
  visit("child", place.child);
  visit("bytes", place.bytes);
  visit("count", place.count);
}

// Reads the figures of a run from the run itself or from a file with the figures. `baseline` is a run folder, a trace,
// a result file, or a file of formatFigures(). Runs are read with this question.
Result<RunFigures> readBaseline(const std::filesystem::path &baseline, const ReportQuestion &, const Progress &);

} // namespace msleaks::analysis::inline compare
