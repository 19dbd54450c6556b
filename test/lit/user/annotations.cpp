// Annotations declare a user's own allocators: on a definition, on a declaration, on members, with and without the positions of operands.
// Calls of these allocators are not inlined at -O2, even if they are small and static.
// RUN: %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#include "keep.h"
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#define ALLOC(fields) __attribute__((annotate("msleaks.alloc" fields)))
#define FREE(fields) __attribute__((annotate("msleaks.free" fields)))

static char memory[1024];
static size_t used = 0;

// The size is the first parameter that is as wide as size_t.
ALLOC("") static void *poolGet(int device, size_t size) {
  used += size;
  return memory + used - size;
}
FREE("") static void poolPut(void *) {}

ALLOC(":size=1,count=0,heap=device") static void *poolArray(size_t count, size_t size) { return poolGet(0, count * size); }
ALLOC(":result=out(0)") static int poolOut(void **block, size_t size) { return *block = poolGet(0, size), 0; }
FREE(":address=1,heap=device") static void poolPutIn(void *pool, void *block) { keep(pool), keep(block); }

struct Pool {
  ALLOC("") void *get(size_t size);
  // `this` is not the block.
  FREE("") void put(void *block);
  size_t count = 0;
};

int main() {
  // CHECK: before user alloc | [[GET:_ZL7poolGetim]] at
  // CHECK-NEXT: on_alloc user alloc block size=24 | [[GET]] at annotations.cpp:[[#@LINE+1]] in main variable=values type=float
  auto *values = static_cast<float *>(poolGet(3, 24));
  keep(values);
  // CHECK-NEXT: on_free user free block size=0 | _ZL7poolPutPv at
  poolPut(values);
  // CHECK-NEXT: before user alloc | _ZL9poolArraymm
  // The call of poolGet inside poolArray is a site, too.
  // CHECK-NEXT: before user alloc | [[GET]]
  // CHECK-NEXT: on_alloc user alloc block size=40 | [[GET]]
  // CHECK-NEXT: on_alloc user alloc block size=40 | _ZL9poolArraymm at {{.*}} variable=array type=int
  auto *array = static_cast<int *>(poolArray(10, 4));
  keep(array);
  // CHECK-NEXT: on_free user free block size=0 | _ZL9poolPutInPvS_
  poolPutIn(nullptr, array);
  // CHECK: on_alloc_out user alloc block size=5 status=0 | _ZL7poolOutPPvm at {{.*}} variable=out
  void *out;
  poolOut(&out, 5);
  keep(out);
  Pool pool;
  // CHECK: on_alloc user alloc block size=6 | _ZN4Pool3getEm at {{.*}} variable=member
  void *member = pool.get(6);
  // CHECK: on_free user free block size=0 | _ZN4Pool3putEPv
  pool.put(member);
  // CHECK: on_free user free null size=0 | _ZN4Pool3putEPv
  pool.put(nullptr);
  // PLAIN: used 75 count 1
  std::printf("used %zu count %zu\n", used, pool.count);
}

void *Pool::get(size_t size) {
  ++count;
  return poolGet(0, size);
}
void Pool::put(void *block) { keep(block); }
