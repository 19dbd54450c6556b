// Code as the loader has mapped it: where it lies, and what the instructions at an address are.
//
// Nothing tells that the image of a word on a stack stays while it is looked at, but for that of a frame's own address:
// another thread may close it. So the kernel is asked for the bytes of all others.
#pragma once

#include "loaded_object.h"

#include <cstdint>

namespace msleaks::runtime::unwind {

// An image, and the code in it.
struct Code {
  uint64_t image_begin = 0, image_end = 0;
  uint64_t begin = 0, end = 0;
  bool isOf(uint64_t address) const noexcept { return address >= image_begin && address < image_end; }
  bool holds(uint64_t address, uint64_t bytes = 1) const noexcept {
    return address >= begin && address < end && end - address >= bytes;
  }
};

// Of the image with `address`; empty: there is none, or not one that begins with its headers.
Code codeAt(uint64_t address) noexcept;

// As the kernel sees them; false: not all of them are there.
bool copyIfThere(uint64_t from, void *to, uint64_t bytes) noexcept;
template <class T> bool copyIfThere(uint64_t from, T &to) noexcept { return copyIfThere(from, &to, sizeof to); }

// The bytes of code at `at`; false: it is no code.
template <class T> bool codeBytes(uint64_t at, T &bytes) noexcept {
  return codeAt(at).holds(at, sizeof bytes) && copyIfThere(at, bytes);
}

// The instruction that ends before `address` may be a call.
bool mayFollowCall(uint64_t address) noexcept;

// The same where `address` is of a frame in `object`, which stays as long as the frame: read without a system call.
bool mayFollowCall(const LoadedObject &object, uint64_t address) noexcept;

// The code there is what a signal handler returns to: the system call that gives the interrupted registers back.
bool isReturnOfHandler(uint64_t address) noexcept;

// In an entry of the PLT that no table speaks of and that leaves stack and link register alone.
bool isInPlt(uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
