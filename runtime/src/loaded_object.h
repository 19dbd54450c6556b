// An executable or library as the loader has mapped it.
#pragma once

#include <cstdint>
#include <link.h>

namespace msleaks::runtime {

struct LoadedObject {
  uint64_t load_bias;
  const char *name;           // the loader's own, "" for the program: there as long as the object is
  const ElfW(Phdr) * headers; // null: they are not mapped
  unsigned header_count;
  uint64_t begin, end;      // known without headers: range of the object, or of the address's segment
  uint64_t eh_frame_header; // 0 = none
};

// A test sets it to false to get the behaviour of an older glibc.
extern bool loader_needs_no_lock;

// The object that `address` lies in. With glibc 2.35 and later it takes no lock and may be called anywhere.
bool findLoadedObject(uint64_t address, LoadedObject &object) noexcept;

struct LoadedRange {
  uint64_t begin, end;
};

// Finds the mapping of the object with `address`. It reads no byte of the object: another thread may be closing it. It
// also returns false if this glibc needs a lock for the answer.
bool findLoadedRange(uint64_t address, LoadedRange &range) noexcept;

} // namespace msleaks::runtime
