// The file of a page that a verb writes.
#pragma once

#include "analysis/base/output.h"
#include "analysis/base/result.h"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

namespace msleaks::tools {

class PageFile {
public:
  // Creates the file under a temporary name. Call this before a run is read, because that may take long.
  static Result<PageFile> create(const std::string &path);
  // Calls `write` with a stream, and then gives the file its name.
  template <class Write> Result<void> write(Write write) {
    analysis::OutputStream stream(std::move(file_));
    MSL_TRY(write(stream));
    MSL_TRY(stream.written().map_error(analysis::ofOutput)); // commit() does not return the reason of a failure
    return stream.commit().map_error(analysis::ofOutput);
  }

private:
  explicit PageFile(analysis::OutputFile file) : file_(std::move(file)) {}
  analysis::OutputFile file_;
};

// Returns the time when a run was recorded: source files that are newer may have changed.
std::optional<std::filesystem::file_time_type> recordedAt(const std::string &run);

} // namespace msleaks::tools
