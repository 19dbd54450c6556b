// A library with which the program is linked. The library allocates a block when it is loaded.
#include <stdlib.h>

void *linked_block;

__attribute__((constructor)) static void load(void) { linked_block = malloc(2002); }
