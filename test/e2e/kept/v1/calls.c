#include <stdlib.h>
__attribute__((noinline)) static void *inner(size_t bytes) { void *volatile block = malloc(bytes); return block; }
__attribute__((noinline)) static void *outer(size_t bytes) { void *volatile block = inner(bytes); return block; }
int main(void) { void *volatile one = outer(100); void *volatile two = inner(11); return !one || !two; }
