// Writes the graphs of a run, or of two runs side by side, as a page. The page is one file and loads nothing from the
// network.
#pragma once

#include "analysis/counts/function_pairs.h"
#include "analysis/counts/source_excerpts.h"

#include <iosfwd>

namespace msleaks::analysis::inline counts {

struct RunOfPage {
  std::string name;
  std::span<const CountedFunction> functions;
};

// Reads the sources now. The page says that a source has changed if the source was written after `since`.
void writeGraphsHtml(std::ostream &to, const RunOfPage &run, const RunOfPage *against = nullptr,
                     std::optional<std::filesystem::file_time_type> since = {});

// Declared for tests. The results can stand inside a script or an element, because they cannot end either.
std::string escapedForScript(std::string_view json);
std::string escapedForHtml(std::string_view text);

} // namespace msleaks::analysis::inline counts
