// bench_writes WHAT COUNT: writes to a watched block in the range `operator`, and then repeats one action COUNT times
// in this range. bench/verify_cost.py runs this program. These are the actions:
//
//   call     a system call without a pointer
//   given    a system call that gets a pointer to memory beside the block
//   beside   a write beside the block
//   into     a write into the block
#include <msleaks/api.h>

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { kBlock = 64 };

static struct {
  volatile char block[kBlock];
  volatile long beside;
  struct utsname name;
} page __attribute__((aligned(4096)));

int main(int arguments, char **argument) {
  if (arguments != 3)
    return 2;
  const char *what = argument[1];
  const long count = atol(argument[2]);
  msl_watch((const char *)page.block, kBlock, "block");
  msl_range_push("operator");
  page.block[0] = 1;
  for (long i = 0; i < count; ++i)
    if (strcmp(what, "call") == 0)
      (void)getppid();
    else if (strcmp(what, "beside") == 0)
      page.beside = i;
    else if (strcmp(what, "into") == 0)
      page.block[1] = (char)i;
    else
      uname(&page.name);
  msl_range_pop();
  return 0;
}
