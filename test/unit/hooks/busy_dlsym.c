// A library that is loaded after the hooks and defines dlsym(). Its dlsym() allocates memory while the hooks look up
// the real functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *(*real)(void *, const char *);

static void fail(const char *what) {
  (void)!write(2, what, strlen(what));
  _exit(9);
}

static void useTheHeap(void) {
  char *zeroed = calloc(3, 7), *fresh = realloc(NULL, 10);
  if (zeroed == NULL || zeroed[20] != 0 || fresh == NULL)
    fail("no memory");
  memcpy(fresh, "bootstrap", 10);
  fresh = realloc(fresh, 100);
  if (fresh == NULL || strcmp(fresh, "bootstrap") != 0)
    fail("realloc lost it");
  free(fresh);
  free(zeroed);
}

static void useMappings(void) {
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    fail("no mapping");
  pages[4096] = 1;
  pages = mremap(pages, 8192, 16384, MREMAP_MAYMOVE);
  if (pages == MAP_FAILED || pages[4096] != 1 || munmap(pages, 16384) != 0 || munmap(pages, 0) == 0)
    fail("mremap or munmap");
}

void *dlsym(void *handle, const char *name) {
  if (real == NULL)
    real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (real == NULL)
    fail("no dlsym@GLIBC_2.34");
  useTheHeap();
  useMappings();
  return real(handle, name);
}
