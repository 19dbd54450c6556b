#include "page_file.h"

#include "analysis/base/run_folder.h"

namespace msleaks::tools {

Result<PageFile> PageFile::create(const std::string &path) {
  return PageFile(MSL_TRY(analysis::OutputFile::create(path).map_error(analysis::ofOutput)));
}

std::optional<std::filesystem::file_time_type> recordedAt(const std::string &run) {
  const auto folder = analysis::RunFolder::open(run);
  std::error_code error;
  const auto time = std::filesystem::last_write_time(folder ? folder->trace() : std::filesystem::path(run), error);
  return error ? std::nullopt : std::optional(time);
}

} // namespace msleaks::tools
