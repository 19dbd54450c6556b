// If the program finds the wanted entry, it does not close the folder.
#include <dirent.h>
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int contains(const char *path, const char *name) {
  DIR *folder = opendir(path); // guilty: DIR
  if (!folder)
    return 0;
  for (struct dirent *entry; (entry = readdir(folder));)
    if (!strcmp(entry->d_name, name))
      return 1;
  closedir(folder);
  return 0;
}

int main(void) {
  int found = 0;
  for (int i = 0; i < 6; ++i)
    found += contains("/", i % 2 ? "etc" : "nothing of that name");
  printf("%d\n", found);
}
