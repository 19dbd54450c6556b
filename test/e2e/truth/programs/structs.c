// Builds a list and a tree of structs, and frees only parts of them.
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *left, *right;
  double value;
};
struct record {
  struct record *next;
  char *name;
  float samples[32];
};

static struct node *tree;
static struct record *records;

static struct node *grow(int depth) {
  if (depth == 0)
    return NULL;
  struct node *node = malloc(sizeof *node);
  node->value = depth;
  node->left = grow(depth - 1);
  node->right = grow(depth - 1);
  return node;
}

static void cut(struct node *node) {
  if (node == NULL)
    return;
  cut(node->left);
  cut(node->right);
  free(node);
}

int main(void) {
  tree = grow(12);
  cut(tree->left);
  tree->left = NULL;
  for (int i = 0; i < 50; ++i) {
    struct record *record = calloc(1, sizeof *record);
    record->name = malloc(i + 1);
    memset(record->name, 'r', i);
    record->name[i] = 0;
    record->next = records;
    records = record;
  }
  while (records != NULL && records->next != NULL) {
    struct record *next = records->next;
    free(records); // leaks the name of the record
    records = next;
  }
  return 0;
}
