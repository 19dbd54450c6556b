// An ordinary program that is built in unusual ways: static, stripped, sanitized, without -g, with split DWARF.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  char text[20];
};

static struct node *grow(struct node *head, int number) {
  struct node *made = calloc(1, sizeof *made);
  snprintf(made->text, sizeof made->text, "node %d", number);
  made->next = head;
  return made;
}

int main(int count, char **words) {
  struct node *head = NULL;
  for (int i = 0; i < 100; ++i)
    head = grow(head, i);
  size_t length = 0;
  for (struct node *next; head; head = next) {
    next = head->next;
    length += strlen(head->text);
    free(head);
  }
  char *text = realloc(strdup("text"), 100);
  free(text);
  printf("%zu\n", length);
  return count > 1;
}
