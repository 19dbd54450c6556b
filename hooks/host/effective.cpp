// Checks whether the dynamic linker binds the hooked functions to this library. If a program defines its own malloc, a
// preloaded malloc does not replace it. Then only instrumented allocations are recorded, and a note says so.
#include "host/real.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/thread.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace {

// If a position-dependent program takes the address of malloc, the program has a stub of this name, and the whole
// process gets the stub's address. The stub jumps to the function that the dynamic linker finds first, which is the
// preloaded one.
bool isStub(const void *address) noexcept {
  Dl_info place;
  ElfW(Sym) *symbol = nullptr;
  return address != nullptr && ::dladdr1(address, &place, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) != 0 &&
         symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
}

// Collects a text like "not hooked: malloc (/usr/bin/x), free (/usr/bin/x)".
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
    return; // no session. In a stopped session the check is needed: recording may start later
  static constinit Shadowed shadowed; // not on the stack of the thread that loads this library
#define MSL_HOOKED(symbol) shadowed.check(#symbol);
#include "host/hooked.def"
  shadowed.tell();
}

} // namespace
