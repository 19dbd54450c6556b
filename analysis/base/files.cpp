#include "analysis/base/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis::inline base {

std::string describeErrno(int error) {
  const char *text = std::strerror(error);
  switch (error) {
  case ENOSPC:
  case EDQUOT:
    return fmt::format("disk full ({}): free some space or choose another folder with -o", text);
  case EFBIG:
    return fmt::format("file too large for the file system or the limit of `ulimit -f` ({})", text);
  case EACCES:
  case EPERM:
    return fmt::format("no permission ({}): check owner and mode", text);
  case EROFS:
    return fmt::format("{}: choose another folder with -o", text);
  default:
    return text;
  }
}

tl::unexpected<Error> cannot(const char *verb, const std::filesystem::path &path, int error) {
  return fail(fmt::format("cannot {} '{}': {}", verb, path.string(), describeErrno(error)));
}

Result<InputFile> InputFile::open(const std::filesystem::path &path) {
  InputFile file;
  file.name_ = path.string();
  file.fd_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file.fd_.valid() || ::fstat(file.fd_.get(), &status) != 0)
    return fail(fmt::format("cannot open '{}': {}", file.name_, describeErrno(errno)));
  if (!S_ISREG(status.st_mode))
    return fail(fmt::format("'{}' is not a regular file: name a run folder or its trace", file.name_));
  file.size_ = static_cast<uint64_t>(status.st_size);
  return file;
}

Result<void> InputFile::lookAgain() {
  struct stat ours{}, named{};
  if (::fstat(fd_.get(), &ours) != 0)
    return fail(fmt::format("cannot read '{}': {}", name_, describeErrno(errno)));
  if (::stat(name_.c_str(), &named) != 0)
    return fail(fmt::format("'{}' was removed or renamed while it was read ({})", name_, std::strerror(errno)));
  if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
    return fail(fmt::format("'{}' was replaced by another file while it was read", name_));
  size_ = static_cast<uint64_t>(ours.st_size);
  return {};
}

Result<size_t> InputFile::read(uint64_t offset, std::span<uint8_t> into) const {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::pread(fd_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (count == 0)
      break;
    if (count > 0)
      done += static_cast<size_t>(count);
    else if (errno != EINTR)
      return fail(fmt::format("cannot read '{}' at byte {}: {}", name_, offset + done, describeErrno(errno)));
  }
  return done;
}

Result<void> InputFile::readAll(uint64_t offset, std::span<uint8_t> into) const {
  const auto count = MSL_TRY(read(offset, into));
  if (count != into.size())
    return fail(fmt::format("'{}' ends at byte {}, in the middle of a chunk", name_, offset + count));
  return {};
}

// Two writers would overwrite each other's chunks. For example, a user may recover a session that is still running.
static Result<void> lockForWriting(const FileDescriptor &fd, const std::string &name) {
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(fmt::format("'{}' is being written by another process: wait until its session has ended", name));
  return {};
}

void AppendFile::release() { ::flock(fd_.get(), LOCK_UN); }

static FileDescriptor openIn(int folder, const std::filesystem::path &path, int flags) {
  const std::filesystem::path name = folder == AT_FDCWD ? path : path.filename();
  return FileDescriptor(::openat(folder, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0640));
}

Result<AppendFile> AppendFile::create(const std::filesystem::path &path, int folder) {
  AppendFile file;
  file.name_ = path.string();
  file.fd_ = openIn(folder, path, O_CREAT | O_EXCL);
  if (!file.fd_.valid())
    return fail(fmt::format("cannot create '{}': {}", file.name_, describeErrno(errno)));
  MSL_TRY(lockForWriting(file.fd_, file.name_));
  return file;
}

Result<AppendFile> AppendFile::reopen(const std::filesystem::path &path, int folder) {
  AppendFile file;
  file.name_ = path.string();
  file.fd_ = openIn(folder, path, O_NONBLOCK);
  struct stat status{};
  if (!file.fd_.valid() || ::fstat(file.fd_.get(), &status) != 0)
    return fail(fmt::format("cannot open '{}' for writing: {}", file.name_, describeErrno(errno)));
  file.size_ = static_cast<uint64_t>(status.st_size);
  MSL_TRY(lockForWriting(file.fd_, file.name_));
  return file;
}

Result<void> AppendFile::append(std::span<const uint8_t> content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t count =
        ::pwrite(fd_.get(), content.data() + done, content.size() - done, static_cast<off_t>(size_ + done));
    if (count > 0) {
      done += static_cast<size_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    const int error = count < 0 ? errno : ENOSPC;
    // A reader would report an incomplete chunk as damage, so cuts it off.
    const bool restored = ::ftruncate(fd_.get(), static_cast<off_t>(size_)) == 0;
    return fail(fmt::format("cannot write '{}': {}{}", name_, describeErrno(error),
                            restored ? "" : "; the file now ends with an incomplete chunk"));
  }
  size_ += content.size();
  return {};
}

Result<void> AppendFile::cut(uint64_t size) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0)
    return fail(fmt::format("cannot cut '{}' to {} bytes: {}", name_, size, describeErrno(errno)));
  size_ = size;
  return {};
}

} // namespace msleaks::analysis::inline base
