// Tests the calls that change mappings. The kind of a mapping depends on its protection and its flags, so the callback gets both.
// RUN: %build_c -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_c -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

void *mmap64(void *, size_t, int, int, int, long);

int main(void) {
  // CHECK: before mmap map | mmap
  // CHECK: on_map mmap map block size=8192 protection=3 flags=0x22 | mmap at mmap.c:[[#@LINE+1]] in main variable=p type=char
  char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // CHECK: on_remap mmap realloc flags=0x4 block old_size=8192 size=16384 flags=1 | mremap
  // CHECK: on_alloc mmap realloc flags=0x4 block size=16384 | mremap {{.*}} variable=p type=char
  p = mremap(p, 8192, 16384, MREMAP_MAYMOVE);
  p[9000] = 1;
  // The kernel refuses this mremap. A refused call has the same callbacks as a successful call.
  // CHECK: on_remap mmap realloc flags=0x4 block old_size=16384 size=0 flags=1 | mremap
  // CHECK: on_alloc mmap realloc flags=0x4 block size=0 | mremap {{.*}} variable=refused
  void *refused = mremap(p, 16384, 0, MREMAP_MAYMOVE);
  if (refused != MAP_FAILED)
    return 1;
  // CHECK: on_free mmap free block size=16384 | munmap
  munmap(p, 16384);
  // CHECK: on_map mmap map block size=4096 protection=0 flags=0x4022 | mmap64 at
  p = mmap64(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // CHECK: before mmap protect | mprotect at
  // CHECK: on_protect mmap protect block size=4096 protection=3 status=0 | mprotect at mmap.c:[[#@LINE+1]] in main
  mprotect(p, 4096, PROT_READ | PROT_WRITE);
  p[9] = 1;
  // CHECK: on_protect mmap protect block size=4096 protection=0 status=0 | mprotect at
  mprotect(p, 4096, PROT_NONE);
  // CHECK: on_protect mmap protect block size=4096 protection=1 status=-1 | mprotect at
  mprotect(p + 1, 4096, PROT_READ);
  munmap(p, 4096);
  puts("done");
  return 0;
}
// PLAIN: done
// PLAIN-NOT: {{.}}
