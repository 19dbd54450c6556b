// Stands in for the hook of dlsym, which works only with preloaded hooks (hooks/core/dlsym.cpp). If the program looks up a
// function that has a hook, the look-up returns the hook.
#undef dlsym
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void *findHook(void *library, const char *name) {
  void *hook = dlsym(RTLD_DEFAULT, name);
  return hook != NULL ? hook : dlsym(library, name);
}
