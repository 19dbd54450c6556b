// Makes mappings and touches each of them. `HOW` is one of
//   ended COUNT   each mapping ends before the next one begins
//   alive COUNT   no mapping ends
//   huge          makes one mapping that is too large for the address range of guarded blocks
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *map(size_t bytes) {
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

int main(int argc, char **argv) {
  const size_t bytes = 5 * 4096;
  if (argc == 2 && strcmp(argv[1], "huge") == 0) {
    char *mapping = map(((size_t)1 << 40) - 4096);
    if (mapping == NULL)
      return 1;
    mapping[0] = 1;
    return 0;
  }
  for (int left = argc == 3 ? atoi(argv[2]) : 0; left > 0; --left) {
    char *mapping = map(bytes);
    if (mapping == NULL)
      return 1;
    mapping[0] = 1;
    if (strcmp(argv[1], "ended") == 0 && munmap(mapping, bytes) != 0)
      return 1;
  }
  return 0;
}
