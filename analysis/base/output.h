// A file that is there as a whole or not at all: written under another name in the same folder, renamed at the end.
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

// A folder of ours, made and opened so that nobody can put another one in its place meanwhile.
// Makes the folder, and those above it that are missing, with this mode, and returns it open. It must be empty, belong
// to us, and be no link; of one that exists, rights beyond the mode are taken away. What is looked at is what was
// opened, never a name a second time. The path has passed checkOutputFolder.
Result<FileDescriptor> makeOutputFolder(const std::filesystem::path &folder, mode_t mode);

// An OutputFile for what writes to a std::ostream.
// Bad from the first write on that failed; then written() says why. Not committed: as if it had never been.
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
