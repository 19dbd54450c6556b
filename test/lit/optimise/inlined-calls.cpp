// A call that is inlined at several places becomes several sites, each with its inline chain. At -O0 it is one site.
// RUN: %clangxx -g -O0 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=O0 %s
// RUN: %clangxx -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=O2 %s
#include "keep.h"
#include <cstdlib>

static inline float *inner(int n) {
  float *values = static_cast<float *>(std::malloc(n)); // line 8
  return values;
}
static inline float *outer(int n) {
  return inner(n + 1); // line 12
}

void first(int n) {
  keep(outer(n)); // line 16
}
void second(int n) {
  keep(inner(n));     // line 19
  keep(outer(2 * n)); // line 20
}

// O0: rows=1
// O0: 8:40 _ZL5inneri malloc type='float' variable='values' verb=0 family=0 heap=0 foreign{{$}}

// O2: rows=3
// O2: site [[ID:[0-9a-f]+]] inlined-calls.cpp:8:40 _ZL5inneri malloc type='float' variable='values' verb=0 family=0 heap=0 < _ZL5outeri inlined-calls.cpp:12:10 < _Z5firsti inlined-calls.cpp:16:8{{$}}
// O2-NOT: site [[ID]]
// O2: 8:40 _ZL5inneri malloc type='float' variable='values' {{.*}} < _Z6secondi inlined-calls.cpp:19:8{{$}}
// O2: 8:40 _ZL5inneri malloc type='float' variable='values' {{.*}} < _ZL5outeri inlined-calls.cpp:12:10 < _Z6secondi inlined-calls.cpp:20:8{{$}}
