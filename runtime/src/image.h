// Which executable or library an address lies in.
#pragma once

#include "arena.h"

#include "msleaks/abi/definitions.h"

#include <string_view>

namespace msleaks::runtime {

struct ImagePlace {
  abi::ImageDefinition definition; // without its number
  const char *name;                // the loader's own, "" for the program: there as long as the image is
  uint64_t address;                // that was looked up
};

// Looks `address` up. Takes no lock of ours: the loader may take its own.
bool findImage(const void *address, ImagePlace &place) noexcept;

// Where the image was loaded from; good until the next call. With Process::lock held.
std::string_view pathOf(Arena &arena, const ImagePlace &place) noexcept;

// The number of that image, defined when it is new; 0 = cannot be told. With signals blocked and Process::lock held.
uint32_t numberOf(Arena &arena, const ImagePlace &place) noexcept;

// Which of the arena's images are where they were: a bit for each.
class LoadedImages {
public:
  bool holds(uint32_t index) const noexcept { return (bits_[index / 64] >> index % 64 & 1) != 0; }
  void add(uint32_t index) noexcept { bits_[index / 64] |= uint64_t{1} << index % 64; }

private:
  uint64_t bits_[kMaxImages / 64] = {};
};

// Visits the first `count` images under the loader's lock. Another thread may be closing any of them, and a result that
// is used without the lock is unmapped before it is read. Takes no lock of ours.
LoadedImages findLoaded(const Arena &arena, uint32_t count) noexcept;

} // namespace msleaks::runtime
