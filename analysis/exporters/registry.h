// The formats are the files of this folder. The last line of each is
//
//   MSL_REGISTER_EXPORTER(stem_of_the_file, "what it is, for export --list", TheExporter)
//
// The stem is the name of the format. TheExporter derives from EventExporter, ReportExporter or BlockExporter. If the
// format is a folder of several files, the last line is MSL_REGISTER_FOLDER_EXPORTER instead.
#pragma once

#include "analysis/exporters/exporter.h"

#include <vector>

#define MSL_REGISTER_EXPORTER_AS(stem, summary, Type, is_folder)                                                       \
  Format makeFormat_##stem() {                                                                                         \
    return {#stem, summary, []() -> Exporter { return std::make_unique<Type>(); }, is_folder};                         \
  }
#define MSL_REGISTER_EXPORTER(stem, summary, Type) MSL_REGISTER_EXPORTER_AS(stem, summary, Type, false)
#define MSL_REGISTER_FOLDER_EXPORTER(stem, summary, Type) MSL_REGISTER_EXPORTER_AS(stem, summary, Type, true)

namespace msleaks::analysis::inline exporters {

// Returns all formats, sorted by name.
std::vector<Format> formats();
// Returns the format of this name. If there is none, the error lists all formats.
Result<Format> formatOf(std::string_view name);

} // namespace msleaks::analysis::inline exporters
