// A file with functions that allocate for their callers. The plugin marks none of them as a wrapper.
#include <stdlib.h>
#include <string.h>

char *xstrdup(const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  return copy;
}
