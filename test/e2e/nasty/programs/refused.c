// Makes requests that the allocator refuses: too many bytes, a product that overflows,
// an invalid alignment. posix_memalign must change neither errno nor the result pointer.
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

volatile size_t huge = (size_t)1 << 62, odd = 24;

#define SAY(call)                                                                                                      \
  do {                                                                                                                 \
    errno = 3;                                                                                                         \
    void *volatile got = call;                                                                                         \
    printf("%s: %d %d\n", #call, got != NULL, errno);                                                                  \
    free(got);                                                                                                         \
  } while (0)

int main(void) {
  SAY(malloc(huge));
  SAY(malloc((size_t)-1));
  SAY(calloc(huge, 16));
  SAY(calloc(0, 16));
  SAY(aligned_alloc(64, huge));
  SAY(memalign(odd, 100));
  SAY(memalign(huge, huge));
  SAY(valloc(huge));
  SAY(pvalloc(huge));
  SAY(realloc(NULL, huge));
  SAY(malloc(0));
  for (size_t alignment = 0; alignment < 40; alignment += 12) {
    void *block = &huge;
    errno = 3;
    int status = posix_memalign(&block, alignment, 10);
    printf("%zu: %d %d %d\n", alignment, status, errno, block == &huge);
  }
  return 0;
}
