// Finds the code of images in memory, and recognises the instructions at an address.
//
// A word on the stack may be an address in any image, and another thread may unload this image at any moment. So these
// functions read bytes by a system call, which fails for an unmapped address. Only the image that contains a frame's
// own address certainly stays loaded.
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

// Returns the image that contains `address`. The result is empty if no image is found (findLoadedRange), or if the
// image does not begin with its headers.
Code codeAt(uint64_t address) noexcept;

// Copies the bytes by a system call. Returns false if some of them are not mapped.
bool copyIfThere(uint64_t from, void *to, uint64_t bytes) noexcept;
template <class T> bool copyIfThere(uint64_t from, T &to) noexcept { return copyIfThere(from, &to, sizeof to); }

// Reads the bytes of code at `at`. Returns false if these bytes are not code.
template <class T> bool codeBytes(uint64_t at, T &bytes) noexcept {
  return codeAt(at).holds(at, sizeof bytes) && copyIfThere(at, bytes);
}

// Whether the instruction before `address` may be a call.
bool mayFollowCall(uint64_t address) noexcept;

// The same for a code address in `object`, such as the next instruction of a frame (Frame::address). An object stays
// loaded as long as one of its frames exists. So its code is read without a system call, if its headers are known.
bool mayFollowCall(const LoadedObject &object, uint64_t address) noexcept;

// Whether the object has these bytes of code, in one segment. False if the object's headers are not known.
bool isCodeOf(const LoadedObject &object, uint64_t at, uint64_t bytes) noexcept;

// Whether a signal handler returns to this address: the code there makes the system call that restores the interrupted
// registers.
bool isReturnOfHandler(uint64_t address) noexcept;

// Whether the address is in a PLT entry without an unwind table. Such an entry changes neither the stack nor the link
// register.
bool isInPlt(uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
