// The formats are the files of this folder. Each ends with
//
//   MSL_REGISTER_EXPORTER(stem_of_the_file, "what it is, for export --list", TheExporter)
//
// and the stem is the format's name. TheExporter derives from EventExporter or from ReportExporter.
#pragma once

#include "analysis/exporters/exporter.h"

#include <vector>

#define MSL_REGISTER_EXPORTER(stem, summary, Type)                                                                     \
  Format makeFormat_##stem() {                                                                                         \
    return {#stem, summary, []() -> Exporter { return std::make_unique<Type>(); }};                                    \
  }

namespace msleaks::analysis::inline exporters {

// In the order of their names.
std::vector<Format> formats();
// Fails on a name that is none of them, and says which there are.
Result<Format> formatOf(std::string_view name);

} // namespace msleaks::analysis::inline exporters
