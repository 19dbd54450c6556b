// The part of a run that a report is about, and the form of the report: the parsed words of a command line.
#pragma once

#include "analysis/base/result.h"
#include "analysis/findings/conclusion.h"
#include "analysis/foreign/foreign_analyzer.h"
#include "analysis/stream/selection.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline report {

// A moment whose live blocks the user asks for.
struct PeakMoment {};
struct EndMoment {}; // just before the last process ended
struct State {
  std::variant<PeakMoment, EndMoment, Moment> when;
  std::string name; // as the user wrote it
};

struct ReportQuestion : Question {
  Window window;           // times since the session's start
  std::optional<State> at; // only the blocks that were alive then; only without a window
  std::optional<uint32_t> pid, tid;
  std::optional<std::set<uint32_t>> processes; // their numbers in the trace
  std::optional<abi::Heap> heap;
  std::vector<AnalyzerLibrary> analyzers; // the user's analyzers

  // Whether a report of the whole run without options is the answer. Only then, a result file can be the answer, too.
  bool isPlain() const {
    return window.hasAll() && !at && !pid && !tid && !processes && !heap && analyzers.empty() &&
           policy == Policy::Effect && !group_by && suppressions.empty() && skip_steps == Question{}.skip_steps &&
           least_growth_bytes == 0 && changes.empty();
  }
};

// A step "step:3", a mark "mark:loaded", or a time since the start: "90", "1.5s", "20ms", "2min".
Result<Moment> parseMoment(std::string_view text);
// "peak", "end", or a moment.
Result<State> parseState(std::string_view text);
// Returns a usage error if both moments are times, and the window would be empty.
Result<Window> parseWindow(std::string_view from, std::string_view to,
                           std::string_view born_until = {}); // empty = not given
Result<abi::Heap> parseHeap(std::string_view name);
Result<Dimension> parseDimension(std::string_view name);
Result<Policy> parsePolicy(std::string_view name);

} // namespace msleaks::analysis::inline report
