// The graphs of a run, or of two runs side by side, as a page: one file that asks nothing of the network.
#pragma once

#include "analysis/counts/function_pairs.h"
#include "analysis/counts/source_excerpts.h"

#include <iosfwd>

namespace msleaks::analysis::inline counts {

struct RunOfPage {
  std::string name;
  std::span<const CountedFunction> functions;
};

// Sources are read now. One that was written after `since` is said to have changed.
void writeGraphsHtml(std::ostream &to, const RunOfPage &run, const RunOfPage *against = nullptr,
                     std::optional<std::filesystem::file_time_type> since = {});

// For tests: what is between the tags of a script or in an element's text, and ends neither.
std::string escapedForScript(std::string_view json);
std::string escapedForHtml(std::string_view text);

} // namespace msleaks::analysis::inline counts
