// kind: churn
// The program copies each attribute to the heap, even if the attribute's text needs no replacement.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attribute {
  char *text;
  int *offsets;
};
__attribute__((noinline)) static void build(struct attribute *attribute, const char *raw, size_t length) {
  attribute->text = malloc(length + 1); // guilty: char
  attribute->offsets = malloc(8 * sizeof(int));
  memcpy(attribute->text, raw, length + 1);
  attribute->offsets[0] = (int)length;
}
__attribute__((noinline)) static int enter(const char *link, const char *title) {
  struct attribute target, name;
  build(&target, link, strlen(link));
  build(&name, title, strlen(title));
  int sum = target.offsets[0] + name.offsets[0];
  free(target.text);
  free(target.offsets);
  free(name.text);
  free(name.offsets);
  return sum;
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1500000; ++i)
    sum += enter("http://example.com", "a title");
  printf("%ld\n", sum);
}
