// Imitates libroctx64. The library stores the calls that it gets, as a profiler would.
#include "roctx.h"

#include <stdio.h>

static int depth = 0;
static uint64_t ranges = 0;

void roctxMarkA(const char *text) { printf("told: mark %s\n", text); }
int roctxRangePushA(const char *text) {
  printf("told: push %s\n", text);
  return depth++;
}
int roctxRangePop(void) { return depth > 0 ? --depth : -1; }
uint64_t roctxRangeStartA(const char *text) {
  printf("told: start %s\n", text);
  return ++ranges;
}
void roctxRangeStop(uint64_t range) { printf("told: stop %d\n", (int)range); }
