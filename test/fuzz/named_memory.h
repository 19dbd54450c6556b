// NamedMemory is a file in memory that has a name, for readers that open a file by its name.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace msleaks {

class NamedMemory {
public:
  NamedMemory() : fd_(::memfd_create("fuzz", 0)), name_("/proc/self/fd/" + std::to_string(fd_)) {}
  ~NamedMemory() { ::close(fd_); }
  NamedMemory(const NamedMemory &) = delete;
  NamedMemory &operator=(const NamedMemory &) = delete;

  const std::string &store(std::span<const uint8_t> bytes) {
    if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
    return name_;
  }

private:
  int fd_;
  std::string name_;
};

} // namespace msleaks
