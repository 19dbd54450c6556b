// The msl_sites sections of files: executables, shared libraries, object files, static archives; also stripped ones.
#pragma once

#include "analysis/base/result.h"
#include "analysis/places/site_table_reader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis {

// The tables of one object: of the file itself, or of one member of an archive.
struct ObjectSites {
  std::string member; // name in the archive; empty for the file itself
  std::vector<SiteTable> tables;
};

// Only objects that have sites. A file without any fails, and says what to do.
Result<std::vector<ObjectSites>> readSiteSections(const std::filesystem::path &file);

} // namespace msleaks::analysis
