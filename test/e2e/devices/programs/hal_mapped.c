// Maps physical memory of Ascend's driver, as torch_npu does for expandable segments. It releases some handles
// after the unmapping, and others right after the mapping. With "mended" it leaks nothing. With "imported" it
// maps memory of another process.
#include "acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DECLARE(name, parameters)                                                                                      \
  extern int public_##name parameters __asm__(#name) __attribute__((weak));                                            \
  extern int inner_##name parameters __asm__(#name "Inner") __attribute__((weak))
#define CALL(name, ...) (public_##name != NULL ? public_##name(__VA_ARGS__) : inner_##name(__VA_ARGS__))

DECLARE(halMemCreate, (void **, size_t, const struct drv_mem_prop *, uint64_t));
DECLARE(halMemRelease, (void *));
DECLARE(halMemMap, (void *, size_t, size_t, void *, uint64_t));
DECLARE(halMemUnmap, (void *));
DECLARE(halMemRetainAllocationHandle, (void **, void *));
DECLARE(halMemImportFromShareableHandle, (uint64_t, uint32_t, void **));

enum { kSegment = 2 << 20, kSegments = 8 };
static const struct drv_mem_prop on_device = {1, 1, 7, 1, 0, 0};
static char *base;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}
static void *segment(int number) { return base + (size_t)number * kSegment; }

static void expandable(void) {
  void *handles[2];
  for (int i = 0; i < 2; ++i) {
    expect(CALL(halMemCreate, &handles[i], kSegment, &on_device, 0), 0, "segment"); // a segment
    expect(CALL(halMemMap, segment(i), kSegment, 0, handles[i], 0), 0, "map");
  }
  memset(base, 7, 2 * kSegment);
  expect(CALL(halMemUnmap, base + kSegment / 2), 3, "unmap of a half");
  for (int i = 0; i < 2; ++i) {
    expect(CALL(halMemUnmap, segment(i)), 0, "unmap");
    expect(CALL(halMemRelease, handles[i]), 0, "release");
  }
}

static void released_at_once(int mended) {
  void *handle, *again;
  expect(CALL(halMemCreate, &handle, kSegment, &on_device, 0), 0, "block"); // released right after the mapping
  expect(CALL(halMemMap, segment(2), kSegment, 0, handle, 0), 0, "map");
  expect(CALL(halMemRelease, handle), 0, "release");
  expect(CALL(halMemRetainAllocationHandle, &again, segment(2)), 0, "its handle");
  expect(CALL(halMemUnmap, segment(2)), 0, "unmap");
  expect(CALL(halMemRelease, again), 0, "release of what is not mapped any more");
  expect(CALL(halMemCreate, &handle, kSegment, &on_device, 0), 0, "block"); // forgotten
  expect(CALL(halMemMap, segment(3), kSegment, 0, handle, 0), 0, "map");
  expect(CALL(halMemRelease, handle), 0, "release");
  if (mended)
    expect(CALL(halMemUnmap, segment(3)), 0, "unmap");
}

static void imported(void) {
  void *handle, *again;
  expect(CALL(halMemImportFromShareableHandle, kSegment, 1, &handle), 0, "another's block");
  expect(CALL(halMemMap, base, kSegment, 0, handle, 0), 0, "map");
  expect(CALL(halMemRelease, handle), 0, "release");
  expect(CALL(halMemRetainAllocationHandle, &again, base), 0, "its handle");
  expect(CALL(halMemUnmap, base), 0, "unmap");
  expect(CALL(halMemRelease, again), 0, "release of what is not mapped any more");
}

int main(int argc, char **argv) {
  base = mmap(NULL, (size_t)kSegments * kSegment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (argc > 1 && strcmp(argv[1], "imported") == 0) {
    imported();
  } else {
    expandable();
    released_at_once(argc > 1);
  }
  munmap(base, (size_t)kSegments * kSegment);
  puts("done");
  return 0;
}
