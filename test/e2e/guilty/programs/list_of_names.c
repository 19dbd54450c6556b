// The program frees the list that scandir returns, but not the entries of the list.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int count(const char *path) {
  struct dirent **entries;
  int found = scandir(path, &entries, NULL, alphasort); // guilty: struct dirent
  if (found >= 0)
    free(entries);
  return found;
}

int main(void) { printf("%d\n", count("/etc") > 0 && count("/") > 0); }
