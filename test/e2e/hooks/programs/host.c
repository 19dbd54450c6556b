// Opens the stand-in of a driver at run time, and finds its functions in the way that the second argument names.
//
//   usage: host LIBRARY dlsym|proc_address|global
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Maps, moves and unmaps pages by functions of the library. At the end, mappings of 2 pages and of 3 pages are alive.
static void pages(void *library) {
  enum { kPage = 4096, kPlain = MAP_PRIVATE | MAP_ANONYMOUS };
  void *(*map)(size_t, int, int) = dlsym(library, "pages_map");
  void *(*move)(void *, size_t, size_t, int) = dlsym(library, "pages_move");
  int (*protect)(void *, size_t, int) = dlsym(library, "pages_protect");
  int (*unmap)(void *, size_t) = dlsym(library, "pages_unmap");
  char *space = map(8 * kPage, PROT_NONE, kPlain);
  printf("protect %d %d\n", protect(space, 2 * kPage, PROT_READ | PROT_WRITE), protect(space + 1, kPage, PROT_READ));
  char *moved = move(map(2 * kPage, PROT_READ, kPlain), 2 * kPage, 3 * kPage, MREMAP_MAYMOVE);
  char *gone = map(kPage, PROT_READ, kPlain);
  printf("move %d %d\n", moved != MAP_FAILED, move(moved + 1, kPage, kPage, 0) == MAP_FAILED);
  printf("unmap %d %d\n", unmap(gone + 1, kPage), unmap(gone, kPage));
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const char *way = argv[2];
  // The library is not loaded yet, so this look-up must fail, although a hook defines the function.
  printf("early %d %d\n", dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == NULL, dlerror() != NULL);
  printf("own %d\n", dlsym(RTLD_DEFAULT, "no_such_function") == NULL && dlsym(RTLD_NEXT, "malloc") != NULL);
  void *library = dlopen(argv[1], RTLD_NOW | (strcmp(way, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == NULL)
    return 3;
  int (*alloc)(uint64_t *, size_t), (*release)(uint64_t);
  if (strcmp(way, "proc_address") == 0) {
    int (*ask)(const char *, void **, int, uint64_t, void *) = dlsym(library, "cuGetProcAddress_v2");
    ask("cuMemAlloc", (void **)&alloc, 12000, 0, NULL);
    ask("cuMemFree", (void **)&release, 12000, 0, NULL);
    void *nothing = NULL;
    printf("unknown %d\n", ask("cuNothing", &nothing, 12000, 0, NULL));
  } else {
    void *scope = strcmp(way, "global") == 0 ? RTLD_DEFAULT : library;
    alloc = dlsym(scope, "cuMemAlloc_v2");
    release = dlsym(scope, "cuMemFree_v2");
  }
  void *(*take)(int, size_t) = dlsym(library, "pool_take");
  void (*give)(int, void *) = dlsym(library, "pool_give");
  if (alloc == NULL || release == NULL || take == NULL || give == NULL)
    return 4;
  uint64_t kept = 0, gone = 0;
  printf("status %d %d\n", alloc(&kept, 1001), alloc(&gone, 1003));
  printf("refused %d\n", release(kept + 1));
  printf("status %d\n", release(gone));
  void *block = take(1, 1009);
  give(1, block);
  take(1, 1013);
  pages(library);
  printf("end\n");
  return 0;
}
