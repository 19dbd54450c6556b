// Calls Ascend's driver directly, without the runtime API ACL. It allocates each kind of memory, each size of page, and
// physical memory, for three modules of the driver. Some flag words are invalid. With "modules" it allocates a block
// for each module. With STANDIN_INNER the driver's functions have their internal names.
#include "acl.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(name, parameters)                                                                                      \
  extern int public_##name parameters __asm__(#name) __attribute__((weak));                                            \
  extern int inner_##name parameters __asm__(#name "Inner") __attribute__((weak))
#define CALL(name, ...) (public_##name != NULL ? public_##name(__VA_ARGS__) : inner_##name(__VA_ARGS__))

DECLARE(halMemAlloc, (void **, unsigned long long, unsigned long long));
DECLARE(halMemFree, (void *));
DECLARE(halMemCreate, (void **, size_t, const struct drv_mem_prop *, uint64_t));
DECLARE(halMemRelease, (void *));

enum { kShared, kDevice, kHost, kDvpp };
enum { kHccl = 3, kDvppModule = 6, kRuntime = 7, kModules = 76, kKiB = 1 << 10 };

static unsigned long long word(unsigned device, unsigned kind, unsigned module) {
  return device | (unsigned long long)kind << 10 | (unsigned long long)module << 56;
}

// Allocates a block for each existing module, and for one invalid module number.
static int take_for_each_module(void) {
  int failures = 0;
  for (unsigned module = 0; module <= kModules; ++module) {
    void *block = NULL;
    failures += CALL(halMemAlloc, &block, kKiB + module, word(0, kDevice, module)) != 0;
    failures += CALL(halMemFree, block) != 0;
  }
  printf("%d failures\n", failures);
  return failures;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "modules") == 0)
    return take_for_each_module();
  const unsigned long long huge = 1 << 17, giant = 1ull << 31;
  const struct {
    unsigned long long size, flag;
  } wishes[] = {{64 * kKiB, word(1, kDevice, kHccl)},
                {128 * kKiB, word(1, kDevice, kHccl) | huge},
                {256 * kKiB, word(0, kDevice, kHccl) | giant},
                {4 * kKiB, word(0, kHost, kRuntime)},
                {8 * kKiB, word(1, kShared, kRuntime)},
                {16 * kKiB, word(0, kDvpp, kDvppModule)},
                {32 * kKiB, word(1, 9, 200)},         // unknown kind of memory, unknown module
                {1 * kKiB, word(1023, kDevice, 75)}}; // unknown device
  enum { kWishes = sizeof wishes / sizeof wishes[0] };
  const struct drv_mem_prop properties[] = {{1, 1, kHccl, 1, 0, 0}, {0, 0, kRuntime, 0, 0, 0}, {2, 0, 255, 9, 9, 9}};
  enum { kProperties = sizeof properties / sizeof properties[0] };
  void *blocks[kWishes] = {0}, *handles[kProperties] = {0};
  for (int i = 0; i < kWishes; ++i)
    printf("%d", CALL(halMemAlloc, &blocks[i], wishes[i].size, wishes[i].flag)); // alloc
  for (int i = 0; i < kProperties; ++i)
    printf(" %d", CALL(halMemCreate, &handles[i], 512 * kKiB, &properties[i], 0));
  printf(" %d\n", CALL(halMemCreate, &handles[0], 1, NULL, 0));
  for (int i = 0; i < kWishes; ++i)
    printf("%d", i == 1 ? 0 : CALL(halMemFree, blocks[i])); // leaks the block of 128 KiB
  for (int i = 0; i < kProperties; ++i)
    printf(" %d", CALL(halMemRelease, handles[i]));
  printf("\n");
  return 0;
}
