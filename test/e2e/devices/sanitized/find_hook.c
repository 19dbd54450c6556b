// Replaces the hook of dlsym, which works only where the hooks are preloaded (hooks/dlsym.cpp). If a program looks up a
// function in a library, it gets the hook's function instead.
#undef dlsym
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void *findHook(void *library, const char *name) {
  void *hook = dlsym(RTLD_DEFAULT, name);
  return hook != NULL ? hook : dlsym(library, name);
}
