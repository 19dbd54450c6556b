// with: xstrdup.c
// quoted() is a wrapper. It calls a wrapper of another file, which calls a function of libc.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *xstrdup(const char *text);

struct node {
  char *label;
  struct node *next;
};
__attribute__((noinline)) static char *quoted(const char *text) {
  char *copy = xstrdup(text);
  copy[0] = '"';
  return copy;
}
__attribute__((noinline)) static void rename_node(struct node *node, const char *label) {
  node->label = quoted(label); // guilty: char
}
__attribute__((noinline)) static void print(const char *text) {
  char *copy = quoted(text);
  puts(copy);
  free(copy);
}

int main(void) {
  struct node node = {quoted("first"), NULL};
  for (int i = 0; i < 12; ++i) {
    print("shown");
    rename_node(&node, "another");
  }
  free(node.label);
}
