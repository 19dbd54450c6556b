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

// Whether `image` is where it was. Takes no lock of ours.
bool isStillLoaded(const Image &image) noexcept;

} // namespace msleaks::runtime
