// A file that is there as a whole or not at all: written under another name in the same folder, renamed at the end.
#pragma once

#include "msleaks/analysis/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace msleaks::analysis {

class OutputFile {
public:
  // Checks the path (path_check.h) and creates the file's temporary stand-in, 0640. What has that name stays as it is
  // until commit().
  static Result<OutputFile> create(const std::filesystem::path &path);
  OutputFile(OutputFile &&) noexcept;
  OutputFile &operator=(OutputFile &&) noexcept;
  ~OutputFile(); // not committed: as if it had never been

  Result<void> write(std::string_view content);
  Result<void> commit();

private:
  OutputFile(int fd, std::filesystem::path path, std::filesystem::path temporary);
  Result<void> flush();
  void abandon();

  int fd_ = -1;
  std::filesystem::path path_, temporary_;
  std::string buffer_;
};

} // namespace msleaks::analysis
