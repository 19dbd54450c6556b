// An importer reads files of one format. It looks at the beginning of a file and says whether the file has this format.
// If so, it is asked to make a run of the file. To add an importer, add a file to this folder (registry.h), and a test.
#pragma once

#include "analysis/base/result.h"
#include "analysis/importers/foreign_run.h"

#include <istream>
#include <string_view>

namespace msleaks::analysis::inline importers {

struct Importer {
  std::string_view name, summary;
  // `beginning`: at most kBeginningBytes of the unpacked content.
  bool (*recognizes)(std::string_view beginning);
  // Reads the unpacked content. An error's message follows the name of the file, and is one line.
  Result<void> (*read)(std::istream &, ForeignRun &);
};

inline constexpr size_t kBeginningBytes = 4096;

} // namespace msleaks::analysis::inline importers
