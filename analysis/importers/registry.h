// The importers are the files of this folder that end with the line
//
//   MSL_REGISTER_IMPORTER(stem_of_the_file, "what it reads", recognizes, read)
//
// The stem is the name of the format.
#pragma once

#include "analysis/importers/importer.h"

#include <filesystem>
#include <optional>
#include <vector>

#define MSL_REGISTER_IMPORTER(stem, summary, recognizes, read)                                                         \
  Importer makeImporter_##stem() { return {#stem, summary, recognizes, read}; }

namespace msleaks::analysis::inline importers {

// Returns all importers, sorted by name. A function with the name of the namespace would hide it from clang.
std::vector<Importer> allImporters();

// Returns the importer that recognises the beginning of the file, if there is one.
std::optional<Importer> importerOf(const std::filesystem::path &file);

} // namespace msleaks::analysis::inline importers
