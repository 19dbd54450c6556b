// Loads a library, calls its function that allocates a block, and unloads it. This program itself allocates nothing, so it has no unit.
#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

int main(int count, char **arguments) {
  (void)count;
  void *library = dlopen(arguments[1], RTLD_NOW);
  void *(*make)(size_t) = (void *(*)(size_t))dlsym(library, "makeBlock");
  make(9);
  dlclose(library);
  return write(1, "closed\n", 7) != 7;
}
