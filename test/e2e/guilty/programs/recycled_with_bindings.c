// The program puts an unmatched tag with its bindings into a free list. The next use of the tag loses these bindings.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct binding {
  struct binding *next;
  char *uri;
};
struct tag {
  struct tag *next;
  struct binding *bindings;
};
struct parser {
  struct tag *open, *unused;
};
__attribute__((noinline)) static void bind(struct tag *tag, const char *uri) {
  struct binding *binding = malloc(sizeof *binding); // guilty: struct binding
  binding->uri = malloc(60);
  snprintf(binding->uri, 60, "%s", uri);
  binding->next = tag->bindings;
  tag->bindings = binding;
}
static void unbind(struct tag *tag) {
  for (struct binding *binding; (binding = tag->bindings); free(binding)) {
    tag->bindings = binding->next;
    free(binding->uri);
  }
}
__attribute__((noinline)) static int element(struct parser *parser, int matches) {
  struct tag *tag = parser->unused;
  if (tag)
    parser->unused = tag->next;
  else
    tag = malloc(sizeof *tag);
  tag->bindings = NULL;
  bind(tag, "urn:one");
  tag->next = parser->unused;
  parser->unused = tag;
  if (!matches)
    return -1;
  unbind(tag);
  return 0;
}

int main(void) {
  struct parser parser = {0};
  int failed = 0;
  for (int i = 0; i < 30; ++i)
    failed += element(&parser, i % 4) != 0;
  for (struct tag *tag; (tag = parser.unused); free(tag)) {
    parser.unused = tag->next;
    unbind(tag);
  }
  printf("%d\n", failed);
}
