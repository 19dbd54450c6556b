// The path of a site is absolute, even if the compiler was called with a relative path.
// RUN: rm -rf %t && mkdir -p %t/sub && cp %s %t/sub/here.c
// RUN: cd %t && %clang -g -c sub/here.c -o here.o && llvm-strings here.o | FileCheck %s -DROOT=%t
// Components `.` in the path do not change the site.
// RUN: cd %t && %clang -g -c ./sub/./here.c -o dots.o && llvm-strings dots.o | FileCheck %s -DROOT=%t
// CHECK: [[ROOT]]/sub/here.c
#include <stdlib.h>

void *make(int n) { return malloc(n); }
