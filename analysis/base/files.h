// Files: one class reads anywhere in a file, another class only appends to a file.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>

namespace msleaks::analysis::inline base {

// A file descriptor that closes itself.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept : fd_(other.release()) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    if (this != &other) {
      close();
      fd_ = other.release();
    }
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void close() {
    if (fd_ >= 0)
      ::close(release());
  }

private:
  int fd_ = -1;
};

// Reads by pread. If another program truncates the file while we read it, a read returns fewer bytes. With a mapping of
// the file, the kernel would raise SIGBUS.
class InputFile {
public:
  static Result<InputFile> open(const std::filesystem::path &path);
  const std::string &name() const { return name_; }
  uint64_t size() const { return size_; }
  // Updates the size of the open file. Fails if the name now belongs to another file, or to none.
  Result<void> lookAgain();
  // Reads up to `into.size()` bytes. Reads fewer bytes only at the end of the file.
  Result<size_t> read(uint64_t offset, std::span<uint8_t> into) const;
  // Reads exactly `into.size()` bytes. Fails if the file ends earlier.
  Result<void> readAll(uint64_t offset, std::span<uint8_t> into) const;

private:
  FileDescriptor fd_;
  std::string name_;
  uint64_t size_ = 0;
};

// Appends to a file. If an append fails, it restores the old size of the file.
class AppendFile {
public:
  // If `folder` is a folder's descriptor, creates the file there: `path` gives its name, and is printed in messages.
  static Result<AppendFile> create(const std::filesystem::path &path, int folder = AT_FDCWD);
  // Opens an existing file, to append to it.
  static Result<AppendFile> reopen(const std::filesystem::path &path, int folder = AT_FDCWD);
  Result<void> append(std::span<const uint8_t> content);
  Result<void> cut(uint64_t size);
  // Unlocks the file, so that another process may append to it. The caller appends nothing more.
  void release();
  uint64_t size() const { return size_; }
  const std::string &name() const { return name_; }

private:
  FileDescriptor fd_;
  std::string name_;
  uint64_t size_ = 0;
};

// "no space left on device" or another reason. If we know a remedy, the text also says what the user can do.
std::string describeErrno(int error);
// "cannot <verb> '<path>': <why>"
tl::unexpected<Error> cannot(const char *verb, const std::filesystem::path &path, int error);

// Reads a small file, also of /proc, up to the first error. If the file is missing, returns an empty text. Never
// throws: if the process of a /proc file ends meanwhile, an iterator of the stream's buffer would throw.
inline std::string readText(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

} // namespace msleaks::analysis::inline base
