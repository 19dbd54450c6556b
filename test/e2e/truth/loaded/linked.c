// A library that the program is linked with, and that allocates when it is loaded.
#include <stdlib.h>

void *linked_block;

__attribute__((constructor)) static void load(void) { linked_block = malloc(2002); }
