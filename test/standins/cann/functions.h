// Finds the kernels of a binary by name or number, and their names. The kernels are functions of the program. The
// functions here are inline, so that no stand-in calls a function of another stand-in, which may have a hook.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace standin {

inline bool functionOf(const char *name, void **function) {
  *function = name != nullptr ? dlsym(RTLD_DEFAULT, name) : nullptr;
  return *function != nullptr;
}
inline bool functionOf(uint64_t number, void **function) {
  char name[64];
  std::snprintf(name, sizeof name, "kernel_%llu", static_cast<unsigned long long>(number));
  return functionOf(name, function);
}
inline bool nameOf(void *function, uint32_t bytes, char *name) {
  Dl_info place;
  if (dladdr(function, &place) == 0 || place.dli_sname == nullptr || std::strlen(place.dli_sname) >= bytes)
    return false;
  std::strcpy(name, place.dli_sname);
  return true;
}

} // namespace standin
