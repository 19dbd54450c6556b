// A library that is linked to the program. It allocates a block when it is loaded.
#include <stdlib.h>

void *linked_block;

__attribute__((constructor)) static void load(void) { linked_block = malloc(2002); }
