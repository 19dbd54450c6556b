// Writes a file completely or not at all: under a temporary name in the same folder, which commit() renames.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <fcntl.h>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace msleaks::analysis::inline base {

class OutputFile {
public:
  // Checks the path (path_check.h) and creates the temporary file with mode 0640. Until commit(), a file with the real
  // name stays unchanged. If `folder` is given, the caller has checked it and keeps it open. The file is made in
  // it, and `path` is only for messages and for the file's name.
  static Result<OutputFile> create(const std::filesystem::path &path, int folder = AT_FDCWD);
  OutputFile(OutputFile &&) noexcept = default;
  OutputFile &operator=(OutputFile &&) noexcept;
  ~OutputFile(); // removes the temporary file if commit() was not called

  Result<void> write(std::string_view content);
  Result<void> commit();

private:
  OutputFile(FileDescriptor file, int folder, std::filesystem::path path, std::filesystem::path temporary);
  Result<void> flush();
  void abandon();
  std::filesystem::path target() const; // relative to folder_

  FileDescriptor file_;
  int folder_;
  std::filesystem::path path_, temporary_; // temporary_ is relative to folder_
  std::string buffer_;
};

// Changes BadInput to OwnFault: the error concerns the output, and BadInput would blame the input.
Error ofOutput(Error);

// Makes the folder, and the missing folders above it, with this mode. Returns the folder as an open descriptor, so that
// nobody can put another folder in its place. The folder must be empty, belong to us, and be no link. If it existed,
// removes its rights beyond `mode`. All checks use the open descriptor, and never look up a name a second time. The
// caller has called checkOutputFolder.
Result<FileDescriptor> makeOutputFolder(const std::filesystem::path &folder, mode_t mode);

// A std::ostream that writes to an OutputFile. After a write has failed, the stream is bad, and written() returns the
// error. Without commit(), no file is left.
class OutputStream final : public std::ostream {
public:
  explicit OutputStream(OutputFile file) : std::ostream(nullptr), buffer_(std::move(file)) { rdbuf(&buffer_); }
  Result<void> written() const { return buffer_.written; }
  Result<void> commit();

private:
  struct Buffer final : std::streambuf {
    explicit Buffer(OutputFile to) : file(std::move(to)) {}
    std::streamsize xsputn(const char *text, std::streamsize size) override;
    int_type overflow(int_type character) override;

    OutputFile file;
    Result<void> written;
  };
  Buffer buffer_;
};

} // namespace msleaks::analysis::inline base
