// Writes the graphs of a run, or of two runs side by side, as a page. The page is one file and loads nothing from the
// network.
#pragma once

#include "analysis/counts/function_pairs.h"
#include "analysis/places/source_excerpts.h"

#include <iosfwd>

namespace msleaks::analysis::inline counts {

struct RunOfPage {
  std::string name;
  std::span<const CountedFunction> functions;
};

// Reads the sources now. The page says that a source has changed if the source was written after `since`.
// Writes nothing and returns an error if msleaks was built without the page.
Result<void> writeGraphsHtml(std::ostream &to, const RunOfPage &run, const RunOfPage *against = nullptr,
                             std::optional<std::filesystem::file_time_type> since = {});

} // namespace msleaks::analysis::inline counts
