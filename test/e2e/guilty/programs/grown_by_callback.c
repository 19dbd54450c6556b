// The program inserts words into a tree by tsearch. If the tree contains an equal word, the program leaks the new word.
#define _GNU_SOURCE
#include <ftw.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *root;
struct word {
  char text[40];
};
__attribute__((noinline)) static struct word *new_word(const char *text) {
  struct word *word = malloc(sizeof *word);
  if (!word)
    abort();
  snprintf(word->text, sizeof word->text, "%s", text);
  return word;
}
static int compare(const void *left, const void *right) { return strcmp(left, right); }
__attribute__((noinline)) static void learn(const char *text) {
  struct word *word = new_word(text); // guilty: struct word
  tsearch(word, &root, compare);      // leaks a word that the tree already contains
}
static void nothing(void *word) {}

int main(void) {
  const char *text[] = {"to", "be", "or", "not", "to", "be", "to", "to"};
  for (int round = 0; round < 10; ++round)
    for (size_t i = 0; i < sizeof text / sizeof *text; ++i)
      learn(text[i]);
  puts(*(struct word **)root ? (*(struct word **)root)->text : "");
  tdestroy(root, free);
}
