// Without -g a site has its function, its callee and the unit's source file. All other facts stay unknown.
// RUN: %clang -O0 -c %s -o %t.o && %sites %t.o | FileCheck %s
// RUN: %clang -O2 -c %s -o %t.o && %sites %t.o | FileCheck %s
// RUN: %clang -O2 -gline-tables-only -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=LINES %s
#include <stdlib.h>

char *global;
// CHECK: unit without-debug-information.c abi=2 rows=1
// CHECK-NEXT: site {{[0-9a-f]+}} without-debug-information.c:0:0 make malloc type='' variable=''
// LINES: without-debug-information.c:[[#@LINE+1]]:{{[0-9]+}} make malloc type='' variable=''
void make(int n) { global = malloc(n); }
