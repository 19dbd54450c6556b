// Finds the function that a call would reach if there were no hook.
//
// The dynamic linker binds a call according to the image that contains the call. It searches the images that were
// loaded at the program's start or opened with RTLD_GLOBAL. Then it searches the images that were opened together with
// the calling image. It looks for the version of the symbol that the calling image was linked with. So two plug-ins of
// one process may use two versions of one library, under any file names.
#pragma once

#include "msleaks/abi/hook.h"

#include <cstdint>

namespace msleaks::hooks {

struct RealSearch {
  void *everybodys; // the function for all callers, now and later; null: it depends on the caller
  void *own;        // the function to which the caller's image is bound; null: none
  void *any;        // the function in one of the libraries that define it; null: none does
  uint32_t count;   // number of libraries that define the function
  bool is_first;    // no library before the hook's library, in the order of the program's start, defines it
  bool refers;      // the caller's image refers to the name: it may call the function without a look-up
  bool is_known;    // the caller's address lies in an image
  char path[256];   // path of the caller's image, "" for the program
};

enum class Asker {
  Call,   // the address is the code that called the hook or looked it up
  Library // the address is a function of the library in which the hooks want another function
};

// False: a search is not possible now, because this signal handler has interrupted a search of the same thread.
bool searchReal(const hook::Function &function, const void *address, Asker asker, RealSearch &found) noexcept;

// Call this after a look-up by msleaks that found nothing. The program must not read the error message of this look-up.
// The first call of dlerror takes the message away, and the second call frees it.
void forgetMessage() noexcept;

// Returns the definition of `name` in the image with `address`, in its default version, or null.
void *definitionBeside(const void *address, const char *name) noexcept;

// Stores the path of the image with this address, cut off at `bytes`. Returns false if there is no such image.
bool pathOfImage(const void *address, char *path, uint32_t bytes) noexcept;

} // namespace msleaks::hooks
