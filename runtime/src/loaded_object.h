// Finds the executable or library that contains an address, as the loader has mapped it.
#pragma once

#include <cstdint>
#include <link.h>

namespace msleaks::runtime {

struct LoadedObject {
  uint64_t load_bias;
  const char *name;           // the loader's string, "" for the program; valid as long as the object is loaded
  const ElfW(Phdr) * headers; // null: the headers are not mapped
  unsigned header_count;
  uint64_t begin, end;      // range of the object, or of the segment that contains the address
  uint64_t eh_frame_header; // address of .eh_frame_hdr; 0 = none
};

// Whether glibc finds objects without a lock. A test sets this to false to test the code for older versions of glibc.
extern bool loader_needs_no_lock;

// Finds the object that contains `address`. With glibc 2.35 and later, this function acquires no lock, so it may be
// called anywhere.
bool findLoadedObject(uint64_t address, LoadedObject &object) noexcept;

struct LoadedRange {
  uint64_t begin, end;
};

// Finds the mapping of the object that contains `address`. The function reads no byte of the object, since another
// thread may be unloading it. If this glibc needs a lock to find the mapping, returns false.
bool findLoadedRange(uint64_t address, LoadedRange &range) noexcept;

} // namespace msleaks::runtime
