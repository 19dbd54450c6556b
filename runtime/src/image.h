// Finds the executable or library that contains an address.
#pragma once

#include "arena.h"

#include "msleaks/abi/definitions.h"

#include <link.h>
#include <string_view>

namespace msleaks::runtime {

struct ImagePlace {
  abi::ImageDefinition definition; // the image, without its number
  const char *name;                // the loader's string, "" for the program; valid as long as the image is loaded
  const ElfW(Phdr) * headers;      // null: the headers are not mapped
  unsigned header_count;
  uint64_t address; // the address that was looked up
};

// Finds the image of `address`. Call without locks of the runtime, since the loader may acquire its own lock.
bool findImage(const void *address, ImagePlace &place) noexcept;

// Returns the image's path, valid until the next call. Call with Process::lock held.
std::string_view pathOf(Arena &arena, const ImagePlace &place) noexcept;

// Returns the number of the image at this place, or 0 if the image has no number. A new image gets a number and is
// defined. Call with signals blocked and Process::lock held.
uint32_t numberOf(Arena &arena, const ImagePlace &place) noexcept;

// The images of the arena that are still loaded at their addresses.
class LoadedImages {
public:
  bool holds(uint32_t index) const noexcept { return (bits_[index / 64] >> index % 64 & 1) != 0; }
  void add(uint32_t index) noexcept { bits_[index / 64] |= uint64_t{1} << index % 64; }

private:
  uint64_t bits_[kMaxImages / 64] = {};
};

// Returns which of the first `count` images are still loaded. Another thread may unload an image at any moment. So this
// function reads the headers of images under the loader's lock, and acquires no lock of the runtime.
LoadedImages findLoaded(const Arena &arena, uint32_t count) noexcept;

} // namespace msleaks::runtime
