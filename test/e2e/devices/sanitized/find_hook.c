// What the hook of dlsym does where the hooks are preloaded (hooks/dlsym.cpp): a function that a program looks up in a
// library is the hook's, which comes first.
#undef dlsym
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void *findHook(void *library, const char *name) {
  void *hook = dlsym(RTLD_DEFAULT, name);
  return hook != NULL ? hook : dlsym(library, name);
}
