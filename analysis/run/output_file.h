// A file that is there as a whole or not at all: written under another name in the same folder, renamed at the end.
#pragma once

#include "analysis/base/file_descriptor.h"
#include "analysis/base/result.h"

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>

namespace msleaks::analysis {

class OutputFile {
public:
  // Checks the path (path_check.h) and creates the file's temporary stand-in, 0640. What has that name stays as it is
  // until commit(). With a `folder`, which must outlive it, the file is made in there, and the path is only its name in
  // messages: the caller has checked that folder.
  static Result<OutputFile> create(const std::filesystem::path &path, int folder = AT_FDCWD);
  OutputFile(OutputFile &&) noexcept = default;
  OutputFile &operator=(OutputFile &&) noexcept;
  ~OutputFile(); // not committed: as if it had never been

  Result<void> write(std::string_view content);
  Result<void> commit();

private:
  OutputFile(FileDescriptor file, int folder, std::filesystem::path path, std::filesystem::path temporary);
  Result<void> flush();
  void abandon();
  std::filesystem::path target() const; // as seen from folder_

  FileDescriptor file_;
  int folder_;
  std::filesystem::path path_, temporary_; // the latter as seen from folder_
  std::string buffer_;
};

// Changes BadInput to OwnFault: the error is one of the output, and BadInput means a fault of the input.
Error ofOutput(Error);

} // namespace msleaks::analysis
