// A test program that calls malloc and free with the callbacks that the compiler plug-in would insert. A signal may
// arrive between two callbacks, and its handler makes the same calls.
//
//   usage: instrumented_victim never|before|behind      when the signal arrives: before or after the real malloc
//          instrumented_victim direct                   direct calls, without callbacks (msleaks/abi/direct_calls.h)
//          instrumented_victim copies                   copies of its own memory, with the callback and without it
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

// The encoded traits of malloc and free (msleaks/abi/symbols.h).
enum { kMalloc = 0, kFree = 3 << 24, kCopy = 6 << 24 };

__attribute__((weak)) void __msl_before(uint32_t site, uint32_t traits);
__attribute__((weak)) void __msl_on_alloc(uint32_t site, uint32_t traits, const void *address, uint64_t size);
__attribute__((weak)) void __msl_on_free(uint32_t site, uint32_t traits, const void *address, uint64_t size);

__attribute__((weak)) void __msl_on_copy(uint32_t site, uint32_t traits, const void *destination, const void *source,
                                         uint64_t size, const void *stream, uint64_t direction);

__attribute__((weak)) uint32_t __msl_direct_ready(void);
__attribute__((weak)) void *__msl_hook_malloc(size_t size);
__attribute__((weak)) void *__msl_direct_malloc(size_t size, uint32_t site);
__attribute__((weak)) void __msl_hook_free(void *block);
__attribute__((weak)) void __msl_direct_free(void *block, uint32_t site);

static const char *when;
static void at(const char *point) {
  if (strcmp(when, point) == 0)
    raise(SIGUSR1);
}

NOINLINE static void *allocate(uint32_t site, size_t size, const char *before, const char *behind) {
  __msl_before(site, kMalloc);
  at(before);
  void *block = malloc(size);
  at(behind);
  __msl_on_alloc(site, kMalloc, block, size);
  return block;
}

NOINLINE static void release(uint32_t site, void *block) {
  __msl_on_free(site, kFree, block, 0);
  free(block);
}

static void handle(int signal) {
  (void)signal;
  release(22, allocate(21, 1009, "", ""));
}

// Allocates by a direct call inside the call of another instrumented allocator.
NOINLINE static void *allocateInside(uint32_t outer, uint32_t inner, size_t size) {
  __msl_before(outer, kMalloc);
  void *block = __msl_direct_malloc(size, inner);
  __msl_on_alloc(outer, kMalloc, block, size);
  return block;
}

NOINLINE static int callDirectly(void) {
  if (__msl_hook_malloc != malloc || __msl_hook_free != free || __msl_direct_ready() == 0) // as the runtime asks
    return 2;
  void *first = __msl_direct_malloc(4001, 31), *second = allocateInside(32, 33, 4003);
  __msl_direct_free(first, 34);
  __msl_direct_free(second, 35);
  __msl_direct_free(NULL, 36);
  return 0;
}

NOINLINE static int copyBlocks(void) {
  char *from = calloc(1, 200000), *to = malloc(200000);
  from[100] = 7;
  __msl_on_copy(41, kCopy, to, from, 70001, NULL, 0);
  memcpy(to, from, 70001);
  memmove(to + 1, to, 70002); // no callback, so the hook records this copy
  memcpy(to, from, 65535);    // too small to be recorded
  __msl_on_copy(42, kCopy, to, from, 70003, NULL, 0);
  memcpy(to, from, 70003);
  const int is_right = to[100] == 7 && to[65535 + 1] == 0;
  free(to);
  free(from);
  return is_right ? 0 : 3;
}

int main(int argc, char **argv) {
  when = argc > 1 ? argv[1] : "never";
  if (strcmp(when, "direct") == 0)
    return callDirectly();
  if (strcmp(when, "copies") == 0)
    return copyBlocks();
  signal(SIGUSR1, handle);
  release(12, allocate(11, 353, "before", "behind"));
  release(14, allocate(13, 2003, "", ""));
  return __msl_before != NULL ? 0 : 1;
}
