// Which function a call would reach if no hook stood before it.
//
// The dynamic linker binds a call by the image that makes it: to what the program was started with and what was opened
// with RTLD_GLOBAL, then to what the image was opened with; and to the version of the symbol that the image was linked
// with. So two plug-ins of one process may use two versions of one library, each under any file name.
#pragma once

#include "msleaks/abi/hook.h"

#include <cstdint>

namespace msleaks::hooks {

struct RealSearch {
  void *everybodys; // of all callers, now and later; null: it depends on the caller
  void *own;        // what the caller's image is bound to; null: nothing
  void *any;        // of some library that defines it; null: none does
  uint32_t count;   // so many libraries define it
  bool is_first;    // none of them comes before the hook in the order of the program's start
  bool refers;      // the caller's image names it: it may call it without having looked it up
  bool is_known;    // there is an image with the caller
  char path[256];   // of the caller's image, "" for the program
};

enum class Asker {
  Call,   // the address is where the hook was called from, or asked for
  Library // the address is a function of the library whose other functions are wanted
};

// False: nobody can look now, in a signal handler that has interrupted a search of its own thread.
bool searchReal(const hook::Function &function, const void *address, Asker asker, RealSearch &found) noexcept;

// After a look-up of ours that found nothing: the program must not read its message, whose memory the second call gives
// back.
void forgetMessage() noexcept;

// The definition of `name` in the image with `address`, in its default version; null: there is none.
void *definitionBeside(const void *address, const char *name) noexcept;

// The path of the image with this address, cut off at `bytes`; false: there is none.
bool pathOfImage(const void *address, char *path, uint32_t bytes) noexcept;

} // namespace msleaks::hooks
