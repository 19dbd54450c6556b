// The memory of another process: what is mapped where, and its bytes.
#pragma once

#include "analysis/base/files.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <type_traits>
#include <vector>

namespace msleaks::analysis::inline reach {

// A line of /proc/PID/maps.
struct MappedRange {
  uint64_t begin = 0, end = 0;
  bool readable = false, writable = false, executable = false;
  uint64_t file_offset = 0;
  std::string path; // a file's path, or a name of the kernel's as "[heap]"; empty: anonymous
};
std::vector<MappedRange> parseMaps(std::string_view text);

uint64_t systemPageBytes(); // the size of a page

// Reads the memory of a process, as far as it is mapped. Returns the number of bytes that were read.
uint64_t readMemory(pid_t process, uint64_t address, std::span<std::byte> to);

class ProcessMemory {
public:
  explicit ProcessMemory(uint32_t pid);

  uint64_t pageBytes() const { return page_bytes_; }
  // Whether the kernel tells which pages were touched.
  bool tellsTouched() const { return pages_.valid(); }
  std::vector<MappedRange> maps() const;
  // Whether all of these bytes were there.
  bool read(uint64_t address, std::span<std::byte> to) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  bool read(uint64_t address, T &to) const {
    return read(address, std::as_writable_bytes(std::span(&to, 1)));
  }
  // The parts of [begin, end), whole pages, that were ever touched: the others are zeros. All, where the kernel does
  // not say.
  struct Run {
    uint64_t begin, end;
  };
  std::vector<Run> touched(uint64_t begin, uint64_t end) const;

private:
  void addTouched(uint64_t begin, uint64_t end, std::vector<Run> &) const;

  uint32_t pid_;
  uint64_t page_bytes_;
  FileDescriptor pages_; // /proc/PID/pagemap
};

// What an image that is loaded says of itself: read from the process, as its file may have changed.
struct LoadedImage {
  uint64_t load_bias = 0;
  uint64_t end = 0;                // end of its variables, those without a value in the file included; 0 = not known
  uint64_t thread_local_bytes = 0; // of each thread, with its alignment
  std::vector<std::byte> build_id;
};

// `begin`: where byte 0 of its file is mapped. What cannot be read is left as it is.
LoadedImage readImage(const ProcessMemory &, uint64_t begin);

} // namespace msleaks::analysis::inline reach
