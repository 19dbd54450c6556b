// Allocates through an IFUNC, whose resolver runs before any constructor, and through an alias.
// The program also has a missing weak function, and a constructor that runs before others.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *first(size_t size) { return malloc(size); }
static void *(*choose(void))(size_t) { return first; }
void *chosen(size_t size) __attribute__((ifunc("choose")));
void *other_name(size_t size) __attribute__((alias("real_name")));
void *real_name(size_t size) { return calloc(1, size); }
extern void not_there(void) __attribute__((weak));
static char *early;

__attribute__((constructor(101))) static void begin(void) { early = strdup("before others"); }
__attribute__((destructor(101))) static void end(void) { free(early); }

int main(void) {
  for (int i = 0; i < 10; ++i) {
    free(chosen(100));
    free(other_name(50));
  }
  void *volatile lost = chosen(33);
  lost = NULL;
  printf("%s %d\nleaked 33 1\n", early, not_there != NULL);
  return 0;
}
