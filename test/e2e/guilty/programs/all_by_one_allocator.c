// One function allocates all blocks. add() calls this function through three other functions, and leaks a block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
  int kind;
  char *text;
};
__attribute__((noinline)) static void *mem_alloc(size_t bytes) {
  void *block = malloc(bytes);
  if (!block)
    abort();
  return block;
}
__attribute__((noinline)) static char *text_alloc(size_t length) {
  char *text = mem_alloc(length + 1);
  text[length] = 0;
  return text;
}
__attribute__((noinline)) static struct value *text_value(const char *text) {
  struct value *value = mem_alloc(sizeof *value);
  value->kind = 1;
  value->text = text_alloc(strlen(text));
  strcpy(value->text, text);
  return value;
}
__attribute__((noinline)) static struct value *joined(const char *left, const char *right) {
  char both[200];
  snprintf(both, sizeof both, "%s %s", left, right);
  struct value *value = text_value(both);
  value->kind = 2;
  return value;
}
static void drop(struct value *value) {
  free(value->text);
  free(value);
}
__attribute__((noinline)) static int add(const char *left, const char *right) {
  struct value *value = joined(left, right); // guilty:
  if (value->text[0] == 'e')
    return -1;
  drop(value);
  return 0;
}

int main(void) {
  int failed = 0;
  for (int i = 0; i < 30; ++i) {
    drop(text_value("kept for a moment"));
    failed += add(i % 3 ? "good" : "error", "text") != 0;
  }
  printf("%d\n", failed);
}
