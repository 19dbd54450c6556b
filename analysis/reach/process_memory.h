// Reads the memory of another process: its mappings and its bytes.
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
  std::string path; // path of a file, or a name from the kernel such as "[heap]"; empty: anonymous

  bool isAnonymous() const { return path.empty() || path.starts_with("[anon"); }
};
std::vector<MappedRange> parseMaps(std::string_view text);

uint64_t systemPageBytes(); // the size of a page

// No process has a larger address space. An event with a larger number is damaged.
inline constexpr uint64_t kAddressSpaceBytes = uint64_t{1} << 57;
constexpr bool isInAddressSpace(uint64_t address, uint64_t size) {
  return address < kAddressSpaceBytes && size <= kAddressSpaceBytes - address;
}

// Reads the memory of a process, as far as it is mapped. Returns the number of bytes that were read.
uint64_t readMemory(pid_t process, uint64_t address, std::span<std::byte> to);

// Bits of an entry of /proc/PID/pagemap. kPageOfFile: a page of a file or of shared memory. kPageExclusive: no other
// process maps the page.
inline constexpr uint64_t kPagePresent = uint64_t{1} << 63, kPageSwapped = uint64_t{1} << 62,
                          kPageOfFile = uint64_t{1} << 61, kPageExclusive = uint64_t{1} << 56;
// Whether the page is in memory, and is no page of a file.
constexpr bool isAnonymousPage(uint64_t entry) { return (entry & (kPagePresent | kPageOfFile)) == kPagePresent; }

class ProcessMemory {
public:
  explicit ProcessMemory(uint32_t pid);

  uint64_t pageBytes() const { return page_bytes_; }
  // Whether the kernel shows which pages were touched.
  bool tellsTouched() const { return pages_.valid(); }
  std::vector<MappedRange> maps() const;
  // Reads bytes. False: not all of them could be read.
  bool read(uint64_t address, std::span<std::byte> to) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  bool read(uint64_t address, T &to) const {
    return read(address, std::as_writable_bytes(std::span(&to, 1)));
  }
  // Returns the parts of [begin, end) that were ever touched; all other bytes are zero. Both ends must be multiples of
  // the page size. If the kernel does not show touched pages, returns the whole range.
  struct Run {
    uint64_t begin, end;
  };
  std::vector<Run> touched(uint64_t begin, uint64_t end) const;

  // The bytes of pages in [begin, end) that are in memory and are no pages of a file.
  uint64_t anonymousBytes(uint64_t begin, uint64_t end) const;

  // Returns the entry of each page in /proc/PID/pagemap; none if they cannot be read.
  std::vector<uint64_t> entriesOf(uint64_t begin, uint64_t end) const;

private:
  void addTouched(uint64_t begin, uint64_t end, std::vector<Run> &) const;

  uint32_t pid_;
  uint64_t page_bytes_;
  FileDescriptor pages_; // /proc/PID/pagemap
};

// Facts about a loaded image. They are read from the process, because the image's file may have changed.
struct LoadedImage {
  uint64_t load_bias = 0;
  uint64_t end = 0;                // end of its variables, including those without a value in the file; 0 = not known
  uint64_t thread_local_bytes = 0; // bytes for each thread, and room for their alignment
  std::vector<std::byte> build_id;
};

// `begin`: the address of the first byte of the image's file. Fields that cannot be read keep their initial value.
LoadedImage readImage(const ProcessMemory &, uint64_t begin);

} // namespace msleaks::analysis::inline reach
