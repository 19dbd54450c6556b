// The two ways in which a trace is touched: written at its end, and read anywhere.
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

// Reads with pread: a file that another program cuts short while we read it gives fewer bytes, where a mapping would
// raise SIGBUS.
class InputFile {
public:
  static Result<InputFile> open(const std::filesystem::path &path);
  const std::string &name() const { return name_; }
  uint64_t size() const { return size_; }
  // Takes the size that it has now. Fails when it is no longer what its name stands for.
  Result<void> lookAgain();
  // Reads up to `into.size()` bytes; fewer only at the end of the file.
  Result<size_t> read(uint64_t offset, std::span<uint8_t> into) const;
  // Reads exactly that many or says that the file ends before.
  Result<void> readAll(uint64_t offset, std::span<uint8_t> into) const;

private:
  FileDescriptor fd_;
  std::string name_;
  uint64_t size_ = 0;
};

// Grows a file. An append that fails leaves the file as long as it was before.
class AppendFile {
public:
  // With a `folder`, the file of that name in it; the path is only its name in messages.
  static Result<AppendFile> create(const std::filesystem::path &path, int folder = AT_FDCWD);
  // Opens an existing one, to go on at its end.
  static Result<AppendFile> reopen(const std::filesystem::path &path, int folder = AT_FDCWD);
  Result<void> append(std::span<const uint8_t> content);
  Result<void> cut(uint64_t size);
  // Nothing more comes from here: another writer may go on.
  void release();
  uint64_t size() const { return size_; }
  const std::string &name() const { return name_; }

private:
  FileDescriptor fd_;
  std::string name_;
  uint64_t size_ = 0;
};

// "no space left on device" and the like, with what the user can do about it where we know it.
std::string describeErrno(int error);
// "cannot <verb> '<path>': <why>"
tl::unexpected<Error> cannot(const char *verb, const std::filesystem::path &path, int error);

// Reads a small file, also one of /proc, as far as that is possible. A missing file is an empty text. Never throws: a
// file of a process that ends meanwhile fails in the middle, and an iterator of the stream's buffer would throw there.
inline std::string readText(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

} // namespace msleaks::analysis::inline base
