// With --call-stack auto, a call gets a path if its line is in an installed Python package, since it is not the user's own.
// RUN: rm -rf %t && mkdir -p %t/site-packages/torch %t/packages/torch
// RUN: cp %s %t/site-packages/torch/here.h && cp %s %t/packages/torch/here.h
// RUN: %clang -g -x c -c %t/site-packages/torch/here.h -o %t/here.o && %sites %t/here.o | FileCheck --check-prefix=INSTALLED %s
// RUN: %clang -g -x c -c %t/packages/torch/here.h -o %t/here.o && %sites %t/here.o | FileCheck --check-prefix=OWN %s
// INSTALLED: site {{.*}} here.h:[[#@LINE+4]]:{{.*}} foreign{{$}}
// OWN: site {{.*}} here.h:[[#@LINE+3]]:{{.*}} heap=0{{$}}
#include <stdlib.h>

void drop(int n) { free(malloc(n)); }
