// Loads a libpython while it runs, as a host of plug-ins does, and runs Python code that keeps blocks.
//
//     plugin_host LIBPYTHON global|local|again        again: unloads the library and loads it once more
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *need(void *found) {
  if (found != NULL)
    return found;
  fprintf(stderr, "%s\n", dlerror());
  _exit(1);
}

// Runs code of the file <string>, whose function `in_NAME` allocates.
static void run(void *library, const char *name, int count) {
  char code[256];
  snprintf(code, sizeof code,
           "def in_%s(count):\n  return [bytearray(20000) for _ in range(count)]\nkept = in_%s(%d)\n", name, name,
           count);
  int (*const evaluate)(const char *, void *) = need(dlsym(library, "PyRun_SimpleStringFlags"));
  if (evaluate(code, NULL) != 0)
    _exit(1);
}

static void *load(const char *file, int flags) {
  void *library = need(dlopen(file, RTLD_NOW | flags));
  ((void (*)(int))need(dlsym(library, "Py_InitializeEx")))(0);
  return library;
}

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  static void *volatile before;
  before = malloc(30000); // this path is numbered before there is a Python
  (void)before;
  void *library = load(arguments[1], strcmp(arguments[2], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL);
  run(library, "first", 10);
  if (strcmp(arguments[2], "again") == 0) {
    ((int (*)(void))need(dlsym(library, "Py_FinalizeEx")))();
    void *const old = dlsym(library, "_PyRuntime");
    dlclose(library);
    // Now the library gets another address.
    mmap((void *)((uintptr_t)old & ~(uintptr_t)4095), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    library = load(arguments[1], RTLD_GLOBAL);
    run(library, "second", 7);
  }
  puts("end");
  fflush(stdout);
  _exit(0); // the blocks are alive at the end
}
