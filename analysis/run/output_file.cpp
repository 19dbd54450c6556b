#include "analysis/run/output_file.h"

#include "analysis/base/file_access.h"
#include "analysis/run/path_check.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace msleaks::analysis {

namespace fs = std::filesystem;
using trace::cannot;

constexpr size_t kBufferBytes = 64 << 10;

Result<OutputFile> OutputFile::create(const fs::path &path, int folder) {
  if (folder == AT_FDCWD)
    MSL_TRY(checkOutputFile(path));
  // The name of a killed writer may be in the way; another number is not.
  for (int attempt = 0;; ++attempt) {
    const fs::path name = fmt::format(".{}.{}-{}", path.filename().string(), ::getpid(), attempt);
    const fs::path temporary = folder == AT_FDCWD ? path.parent_path() / name : name;
    FileDescriptor file(
        ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (file.valid())
      return OutputFile(std::move(file), folder, path, temporary);
    if (errno != EEXIST || attempt == 1000)
      return cannot("create", path, errno);
  }
}

OutputFile::OutputFile(FileDescriptor file, int folder, fs::path path, fs::path temporary)
    : file_(std::move(file)), folder_(folder), path_(std::move(path)), temporary_(std::move(temporary)) {}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  if (this != &other) {
    abandon();
    file_ = std::move(other.file_);
    folder_ = other.folder_;
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

OutputFile::~OutputFile() { abandon(); }

fs::path OutputFile::target() const { return folder_ == AT_FDCWD ? path_ : path_.filename(); }

void OutputFile::abandon() {
  if (!file_.valid())
    return;
  file_.close();
  ::unlinkat(folder_, temporary_.c_str(), 0);
}

Result<void> OutputFile::write(std::string_view content) {
  buffer_ += content;
  return buffer_.size() < kBufferBytes ? Result<void>{} : flush();
}

Result<void> OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_.get(), rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<size_t>(count));
    else if (errno != EINTR)
      return cannot("write", path_, errno);
  }
  buffer_.clear();
  return {};
}

Result<void> OutputFile::commit() {
  MSL_TRY(flush());
  // Some file systems tell of a full disk only here.
  if (::close(file_.release()) != 0 || ::renameat(folder_, temporary_.c_str(), folder_, target().c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder_, temporary_.c_str(), 0);
    return cannot("write", path_, error);
  }
  return {};
}

Error ofOutput(Error error) {
  if (error.status == ExitStatus::BadInput)
    error.status = ExitStatus::OwnFault;
  return error;
}

} // namespace msleaks::analysis
