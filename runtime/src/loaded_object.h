// Finds the executable or library that contains an address, as the loader has mapped it.
#pragma once

#include <cstdint>
#include <link.h>

namespace msleaks::runtime {

struct LoadedObject {
  uint64_t load_bias;
  const char *name;           // the loader's string, "" for the program; valid as long as the object is loaded
  const ElfW(Phdr) * headers; // null: they are not mapped
  unsigned header_count;
  uint64_t begin, end;      // known without headers: range of the object, or of the address's segment
  uint64_t eh_frame_header; // 0 = none
};

// Whether glibc may be asked without a lock. A test sets this to false to get the behaviour of an older glibc.
extern bool loader_needs_no_lock;

// Finds the object that contains `address`. With glibc 2.35 and later, this function takes no lock and may be called
// anywhere.
bool findLoadedObject(uint64_t address, LoadedObject &object) noexcept;

struct LoadedRange {
  uint64_t begin, end;
};

// Finds the mapping of the object that contains `address`. This function reads no byte of the object, since another
// thread may be unloading the object. It also returns false if this glibc needs a lock for the answer.
bool findLoadedRange(uint64_t address, LoadedRange &range) noexcept;

} // namespace msleaks::runtime
