// Defines a wrapper of strdup. The plugin does not recognise it as a wrapper.
#include <stdlib.h>
#include <string.h>

char *xstrdup(const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  return copy;
}
