// A wrong annotation is said, with the function it stands on, and the compile fails.
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.malloc"' 2>&1 | FileCheck --check-prefix=NAME %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:sise=0"' 2>&1 | FileCheck --check-prefix=FIELD %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.free"' 2>&1 | FileCheck --check-prefix=WHICH %s
// RUN: %clang -c %s -o %t.o -DANNOTATION='"somebody.else"'
// NAME: error: msleaks: annotation "msleaks.malloc" of pool: known are msleaks.alloc, msleaks.free and msleaks.ignore
// FIELD: error: msleaks: annotation "msleaks.alloc:sise=0" of pool: a row of kind 'alloc' has no field 'sise'
// WHICH: error: msleaks: annotation "msleaks.free" of pool: which parameter is the block? say address=<number>
#include <stddef.h>

__attribute__((annotate(ANNOTATION))) void *pool(void *a, void *b, size_t size) { return size ? a : b; }
