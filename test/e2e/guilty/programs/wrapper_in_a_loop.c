// The program reads a configuration repeatedly and does not free the old text of `editor`. xstrdup allocates the texts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void *xmalloc(size_t bytes) {
  void *block = malloc(bytes ? bytes : 1);
  if (!block) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return block;
}
__attribute__((noinline)) static char *xmemdupz(const void *data, size_t bytes) {
  char *copy = xmalloc(bytes + 1);
  memcpy(copy, data, bytes);
  copy[bytes] = 0;
  return copy;
}
__attribute__((noinline)) static char *xstrdup(const char *text) { return xmemdupz(text, strlen(text)); }

struct config {
  char *editor, *pager;
};
__attribute__((noinline)) static void set(struct config *config, const char *key, const char *value) {
  if (!strcmp(key, "pager")) {
    free(config->pager);
    config->pager = xstrdup(value);
  } else if (!strcmp(key, "editor")) {
    config->editor = xstrdup(value); // guilty:
  }
}

int main(void) {
  struct config config = {0};
  for (int i = 0; i < 20; ++i) {
    char *scratch = xstrdup("a line of the file");
    set(&config, "pager", scratch);
    set(&config, "editor", scratch);
    free(scratch);
  }
  printf("%s\n", config.editor);
  free(config.pager);
  free(config.editor);
}
