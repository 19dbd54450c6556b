// The file of a site is absolute, also when the compiler was given a relative name.
// RUN: rm -rf %t && mkdir -p %t/sub && cp %s %t/sub/here.c
// RUN: cd %t && %clang -g -c sub/here.c -o here.o && llvm-strings here.o | FileCheck %s -DROOT=%t
// However the build system writes the name, it is the same site.
// RUN: cd %t && %clang -g -c ./sub/./here.c -o dots.o && llvm-strings dots.o | FileCheck %s -DROOT=%t
// CHECK: [[ROOT]]/sub/here.c
#include <stdlib.h>

void *make(int n) { return malloc(n); }
