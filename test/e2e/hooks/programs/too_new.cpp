// Imitates a hook library that was built with headers of a later version of msleaks.
#include "msleaks/abi/hook.h"

static msleaks::hook::Library library = {99, sizeof(msleaks::hook::Function), nullptr, nullptr, nullptr,
                                         msleaks::hook::kUnknown, 0};
__attribute__((constructor)) static void registerIt() {
  if (__msl_hook_register != nullptr)
    __msl_hook_register(&library);
}
