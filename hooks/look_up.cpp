// The real functions of the C library behind hooks that may be called where nobody may look anything up: in a signal
// handler, between fork and exec, with a lock of the dynamic linker held.
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
