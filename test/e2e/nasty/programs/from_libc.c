// Calls functions of libc that allocate memory for their caller, such as strdup, getline and scandir. Also
// calls printf for numbers with thousands of digits, and qsort for a large array, which allocate internally.
#define _GNU_SOURCE
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static int compare(const void *left, const void *right) { return memcmp(left, right, 4); }

int main(void) {
  char *text = NULL, *shown = NULL, *line = NULL;
  size_t size = 0, room = 0;
  for (int i = 0; i < 50; ++i) {
    if (asprintf(&shown, "%.*f %ls", 3000, 1.0 / 3, L"wide") < 0)
      return 9;
    FILE *memory = open_memstream(&text, &size);
    fprintf(memory, "%s\n%s\n", shown, shown);
    fclose(memory);
    FILE *again = fmemopen(text, size, "r");
    setvbuf(again, NULL, _IOFBF, 10000);
    while (getline(&line, &room, again) > 0)
      free(strndup(line, 100));
    fclose(again);
    free(text);
    free(shown);
    free(realpath("/proc/self/cwd", NULL));
    free(getcwd(NULL, 0));
    free(wcsdup(L"wide"));
    struct dirent **entries = NULL;
    int count = scandir("/etc", &entries, NULL, alphasort);
    while (count > 0)
      free(entries[--count]);
    free(entries);
    glob_t found;
    if (glob("/etc/*", 0, NULL, &found) == 0)
      globfree(&found);
  }
  free(line);
  char *many = calloc(100000, 4);
  qsort(many, 100000, 4, compare);
  free(many);
  char *volatile lost = strdup("an own copy");
  printf("leaked %zu 1\n", strlen(lost) + 1);
  return 0;
}
