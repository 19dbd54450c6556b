// Finds the executable or library of an address.
#pragma once

#include "arena.h"

#include "msleaks/abi/definitions.h"

#include <string_view>

namespace msleaks::runtime {

struct ImagePlace {
  abi::ImageDefinition definition; // the image, without its number
  const char *name;                // the loader's own, "" for the program: there as long as the image is
  uint64_t address;                // that was looked up
};

// Looks `address` up. It takes no lock of ours, since the loader may take its own.
bool findImage(const void *address, ImagePlace &place) noexcept;

// Returns the image's path, valid until the next call. Call with Process::lock held.
std::string_view pathOf(Arena &arena, const ImagePlace &place) noexcept;

// Returns the number of that image, and defines a new one; 0 = not known. Call with signals blocked and Process::lock
// held.
uint32_t numberOf(Arena &arena, const ImagePlace &place) noexcept;

// A bit for each of the arena's images: whether it is still at its place.
class LoadedImages {
public:
  bool holds(uint32_t index) const noexcept { return (bits_[index / 64] >> index % 64 & 1) != 0; }
  void add(uint32_t index) noexcept { bits_[index / 64] |= uint64_t{1} << index % 64; }

private:
  uint64_t bits_[kMaxImages / 64] = {};
};

// Visits the first `count` images under the loader's lock. Another thread may be closing any of them, and a result that
// is used without the lock is unmapped before it is read. It takes no lock of ours.
LoadedImages findLoaded(const Arena &arena, uint32_t count) noexcept;

} // namespace msleaks::runtime
