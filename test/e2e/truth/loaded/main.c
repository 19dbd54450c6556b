// Usage: main PLUGIN. Allocates in the earliest constructor. Twice loads PLUGIN, calls its allocator and unloads it.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern void *linked_block; // defined in linked.c

static void *volatile first, *volatile kept;

// 101 is the first priority that a program may use. So this constructor runs before those of msleaks and of iostream.
__attribute__((constructor(101))) static void begin(void) { first = malloc(1001); }

int main(int argc, char **argv) {
  for (int i = 0; argc == 2 && i < 2; ++i) {
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *(*make)(size_t) = plugin ? (void *(*)(size_t))dlsym(plugin, "make") : NULL;
    if (!make)
      return 1;
    kept = make(4004);
    if (dlclose(plugin) != 0)
      return 1;
  }
  return first && kept && linked_block ? 0 : 1;
}
