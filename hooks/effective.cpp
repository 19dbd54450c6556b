// Whether the dynamic linker really resolves the hooked functions to this library. A program that brings its own malloc
// is not changed by a preloaded one: its allocations are then seen only where they are instrumented, and the session's
// log says so.
#include "real.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/thread.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace {

// A program that is not position-independent and takes malloc's address has a stub of that name, and the whole process
// gets the stub's address. The stub goes where the linker says, first of all to what is preloaded.
bool isStub(const void *address) noexcept {
  Dl_info place;
  ElfW(Sym) *symbol = nullptr;
  return address != nullptr && ::dladdr1(address, &place, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) != 0 &&
         symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
}

// "not hooked: malloc (/usr/bin/x), free (/usr/bin/x)"
class Shadowed {
public:
  void check(const char *symbol) noexcept {
    const char *path = "nowhere";
    const void *address = ::dlsym(RTLD_DEFAULT, symbol);
    if (msleaks::hooks::imageOf(address, &path) == msleaks::hooks::imageOf(&msleaks::hooks::real) || isStub(address))
      return;
    append(text_[0] == 0 ? "not hooked, defined elsewhere: " : ", ");
    append(symbol);
    append(" (");
    append(path);
    append(")");
  }
  void tell() const noexcept {
    if (text_[0] != 0)
      __msl_note(text_);
  }

private:
  void append(const char *text) noexcept { std::strncat(text_, text, sizeof text_ - std::strlen(text_) - 1); }
  char text_[2048] = {};
};

[[gnu::constructor]] void checkEffective() noexcept {
  if (__msl_enabled->load(std::memory_order_relaxed) == 0 && __msl_process.state == 0)
    return; // no session; one that is stopped may be told to start
  static constinit Shadowed shadowed; // not on the stack of whoever loads us
#define MSL_HOOKED(symbol) shadowed.check(#symbol);
#include "hooked.def"
  shadowed.tell();
}

} // namespace
