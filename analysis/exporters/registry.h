// The formats are the files of this folder. The last line of each is
//
//   MSL_REGISTER_EXPORTER(stem_of_the_file, "what it is, for export --list", TheExporter)
//
// The stem is the name of the format. TheExporter derives from EventExporter or from ReportExporter.
#pragma once

#include "analysis/exporters/exporter.h"

#include <vector>

#define MSL_REGISTER_EXPORTER(stem, summary, Type)                                                                     \
  Format makeFormat_##stem() {                                                                                         \
    return {#stem, summary, []() -> Exporter { return std::make_unique<Type>(); }};                                    \
  }

namespace msleaks::analysis::inline exporters {

// Returns all formats, sorted by name.
std::vector<Format> formats();
// Returns the format of this name. If there is none, the error lists all formats.
Result<Format> formatOf(std::string_view name);

} // namespace msleaks::analysis::inline exporters
