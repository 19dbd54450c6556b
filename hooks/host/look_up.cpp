// Looks up the real functions of all hooks of the C library when this library is loaded. These hooks may be called
// where a look-up is not allowed. Examples are a signal handler, the time between fork and exec, and a thread that
// holds a lock of the dynamic linker.
#include "msleaks/hook.h"

using namespace msleaks;

namespace {

bool isOfLibc(const hook::Function &function) {
  const char *library = function.library;
  return library[0] == 'l' && library[1] == 'i' && library[2] == 'b' && library[3] == 'c' && library[4] == 0;
}

[[gnu::constructor]] void lookUpLibc() {
  for (hook::Function *function = __start_msl_hooks; function != __stop_msl_hooks; ++function)
    if (isOfLibc(*function))
      hook::realOf(*function);
}

} // namespace
