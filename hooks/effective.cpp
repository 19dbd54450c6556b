// Whether the dynamic linker really resolves the hooked functions to this library. A program that brings its own malloc
// is not changed by a preloaded one: its allocations are then seen only where they are instrumented, and the session's
// log says so.
#include "real.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/thread.h"

#include <cstring>
#include <dlfcn.h>

namespace {

const void *imageOf(const void *address, const char **path = nullptr) noexcept {
  Dl_info place;
  if (address == nullptr || ::dladdr(address, &place) == 0)
    return nullptr;
  if (path != nullptr)
    *path = place.dli_fname;
  return place.dli_fbase;
}

// "not hooked: malloc (/usr/bin/x), free (/usr/bin/x)"
class Shadowed {
public:
  void check(const char *symbol) noexcept {
    const char *path = "nowhere";
    if (imageOf(::dlsym(RTLD_DEFAULT, symbol), &path) == imageOf(&msleaks::hooks::real))
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
  if (__msl_enabled->load(std::memory_order_relaxed) == 0)
    return;
  Shadowed shadowed;
#define MSL_HOOKED(symbol) shadowed.check(#symbol);
#include "hooked.def"
  shadowed.tell();
}

} // namespace
