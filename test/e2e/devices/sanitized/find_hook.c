// Does what the hook of dlsym does where the hooks are preloaded (hooks/dlsym.cpp). If a program looks a function up in
// a library, it gets the hook's function, which comes first.
#undef dlsym
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void *findHook(void *library, const char *name) {
  void *hook = dlsym(RTLD_DEFAULT, name);
  return hook != NULL ? hook : dlsym(library, name);
}
