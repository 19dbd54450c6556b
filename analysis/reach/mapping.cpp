#include "analysis/reach/mapping.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace msleaks::analysis::inline reach {

Result<FileDescriptor> openFile(const std::filesystem::path &file, Access access) {
  // O_NONBLOCK: if there is a FIFO in the place of the file, open must not wait.
  const int mode = access == Access::Read ? O_RDONLY : O_RDWR;
  FileDescriptor fd(::open(file.c_str(), mode | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) {
    const int reason = errno;
    auto failed = fail(fmt::format("{}: {}", file.string(), std::strerror(reason)));
    errno = reason;
    return failed;
  }
  struct stat facts{};
  if (fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(fmt::format("{}: not a regular file", file.string()));
  return fd;
}

uint64_t sizeOf(const FileDescriptor &fd) {
  struct stat facts{};
  return fstat(fd.get(), &facts) == 0 && facts.st_size > 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

Result<Mapping> Mapping::map(const FileDescriptor &fd, uint64_t offset, uint64_t bytes, Access access) {
  const uint64_t size = sizeOf(fd);
  if (bytes == 0 || offset > size || bytes > size - offset)
    return fail(fmt::format("{} bytes at {} lie outside a file of {}", bytes, offset, size));
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t lead = offset % page;
  const int protection = access == Access::Read ? PROT_READ : PROT_READ | PROT_WRITE;
  void *start = mmap(nullptr, bytes + lead, protection, MAP_SHARED, fd.get(), static_cast<off_t>(offset - lead));
  if (start == MAP_FAILED)
    return fail(fmt::format("cannot map {} bytes at {}: {}", bytes, offset, std::strerror(errno)));
  Mapping mapping;
  mapping.start_ = start;
  mapping.length_ = bytes + lead;
  mapping.bytes_ = static_cast<std::byte *>(start) + lead;
  return mapping;
}

Mapping::Mapping(Mapping &&other) noexcept
    : start_(std::exchange(other.start_, nullptr)), length_(std::exchange(other.length_, 0)),
      bytes_(std::exchange(other.bytes_, nullptr)) {}

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(start_, other.start_);
  std::swap(length_, other.length_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (start_)
    munmap(start_, length_);
}

} // namespace msleaks::analysis::inline reach
