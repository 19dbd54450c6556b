#include "msleaks/analysis/output_file.h"

#include "msleaks/analysis/path_check.h"
#include "trace/file_access.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace msleaks::analysis {

namespace fs = std::filesystem;
using trace::cannot;

constexpr size_t kBufferBytes = 64 << 10;

Result<OutputFile> OutputFile::create(const fs::path &path) {
  if (const Result<void> checked = checkOutputFile(path); !checked)
    return tl::make_unexpected(checked.error());
  // The name of a killed writer may be in the way; another number is not.
  for (int attempt = 0;; ++attempt) {
    const fs::path temporary =
        path.parent_path() / fmt::format(".{}.{}-{}", path.filename().string(), ::getpid(), attempt);
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd >= 0)
      return OutputFile(fd, path, temporary);
    if (errno != EEXIST || attempt == 1000)
      return cannot("create", path, errno);
  }
}

OutputFile::OutputFile(int fd, fs::path path, fs::path temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      buffer_(std::move(other.buffer_)) {}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  if (this != &other) {
    abandon();
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon() {
  if (fd_ < 0)
    return;
  ::close(std::exchange(fd_, -1));
  ::unlink(temporary_.c_str());
}

Result<void> OutputFile::write(std::string_view content) {
  buffer_ += content;
  return buffer_.size() < kBufferBytes ? Result<void>{} : flush();
}

Result<void> OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_, rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<size_t>(count));
    else if (errno != EINTR)
      return cannot("write", path_, errno);
  }
  buffer_.clear();
  return {};
}

Result<void> OutputFile::commit() {
  if (Result<void> written = flush(); !written)
    return written;
  // Some file systems tell of a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    return cannot("write", path_, error);
  }
  return {};
}

} // namespace msleaks::analysis
