// append() adds a reference to the object. The caller never releases its own reference to a new copy, so copies leak.
#include <stdio.h>
#include <stdlib.h>

struct node {
  int owners, count;
  struct node *items[4];
};
__attribute__((noinline)) static struct node *new_node(void) {
  struct node *node = calloc(1, sizeof *node);
  node->owners = 1;
  return node;
}
static void release(struct node *node) {
  if (--node->owners)
    return;
  for (int i = 0; i < node->count; ++i)
    release(node->items[i]);
  free(node);
}
__attribute__((noinline)) static void append(struct node *list, struct node *item) {
  ++item->owners;
  list->items[list->count++] = item;
}
__attribute__((noinline)) static struct node *deep_copy(const struct node *from) {
  struct node *copy = new_node();
  for (int i = 0; i < from->count; ++i)
    append(copy, deep_copy(from->items[i])); // guilty:
  return copy;
}

int main(void) {
  struct node *list = new_node();
  for (int i = 0; i < 3; ++i) {
    struct node *item = new_node();
    append(list, item);
    release(item);
  }
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    struct node *copy = deep_copy(list);
    sum += copy->count;
    release(copy);
  }
  release(list);
  printf("%d\n", sum);
}
