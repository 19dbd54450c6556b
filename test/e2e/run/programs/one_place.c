// Opens a library that leaks a block, closes it, and does the same with a second library, TIMES times.
// The libraries differ only in one name, so the loader maps them to the same address.
//
//   usage: one_place LIBRARY NAME LIBRARY NAME TIMES
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *forget(const char *library, const char *name, size_t bytes) {
  void *handle = dlopen(library, RTLD_NOW);
  if (!handle)
    exit(99);
  void *(*function)(size_t) = (void *(*)(size_t))dlsym(handle, name);
  if (!function)
    exit(98);
  function(bytes);
  dlclose(handle);
  return (void *)function;
}

int main(int count, char **words) {
  if (count != 6)
    return 2;
  const long times = atol(words[5]);
  int same = 0;
  for (long i = 0; i < times; ++i)
    same += forget(words[1], words[2], 1000) == forget(words[3], words[4], 10);
  printf("%d\n", same == times);
  return 0;
}
