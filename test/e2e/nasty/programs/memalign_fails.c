// Calls posix_memalign when there is no memory. glibc sets errno to ENOMEM, although POSIX does not require it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  void *block = NULL;
  errno = 0;
  int status = posix_memalign(&block, 64, (size_t)1 << 62);
  printf("%d errno %d\n", status, errno);
  status = posix_memalign(&block, 64, 100);
  free(block);
  return status;
}
