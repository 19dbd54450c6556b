// Which executable or library an address lies in.
#pragma once

#include "arena.h"

#include "msleaks/abi/definitions.h"

namespace msleaks::runtime {

struct ImagePlace {
  abi::ImageDefinition definition; // without its number
  PathText path;
};

// Looks `address` up. Takes no lock of ours: the loader may take its own.
bool findImage(const void *address, ImagePlace &place) noexcept;

// The number of that image, defined when it is new; 0 = cannot be told. With signals blocked and Process::lock held.
uint32_t numberOf(Arena &arena, const ImagePlace &place) noexcept;

} // namespace msleaks::runtime
