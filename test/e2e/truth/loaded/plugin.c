// A library that the program loads by dlopen. It allocates when it is loaded, and when the program calls make().
#include <stdlib.h>

void *plugin_block;

__attribute__((constructor)) static void load(void) { plugin_block = malloc(3003); }

void *make(size_t size) {
  void *block = malloc(size);
  return block;
}
