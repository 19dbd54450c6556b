// A wrong annotation is an error that names its function, and the compilation fails.
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.malloc"' 2>&1 | FileCheck --check-prefix=NAME %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:sise=0"' 2>&1 | FileCheck --check-prefix=FIELD %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.free"' 2>&1 | FileCheck --check-prefix=WHICH %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:size=9"' 2>&1 | FileCheck --check-prefix=POSITION %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:size=-4"' 2>&1 | FileCheck --check-prefix=NEGATIVE %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.free:address=3"' 2>&1 | FileCheck --check-prefix=ADDRESS %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:result=out(0)"' 2>&1 | FileCheck --check-prefix=STATUS %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:free=put"' 2>&1 | FileCheck --check-prefix=PARTNER %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:size=0"' -DRESULT=int 2>&1 | FileCheck --check-prefix=POINTER %s
// RUN: not %clang -c %s -o %t.o -DANNOTATION='"msleaks.alloc:size=0"' -DA=double 2>&1 | FileCheck --check-prefix=DOUBLE %s
// A row that cannot match its function is an error, too. A static function may have the row's name by chance, so the row is ignored.
// RUN: echo 'free pool address=3' > %t.rows
// RUN: not env MSLEAKS_PASS=rows=%t.rows %clang -c %s -o %t.o -DANNOTATION='"somebody.else"' 2>&1 | FileCheck --check-prefix=ROW %s
// RUN: env MSLEAKS_PASS=rows=%t.rows %clang -c %s -o %t.o -DANNOTATION='"somebody.else"' -DSTATIC='static __attribute__((used))'
// RUN: %clang -c %s -o %t.o -DANNOTATION='"somebody.else"'
// NAME: error: msleaks: annotation "msleaks.malloc" of pool: known are msleaks.alloc, msleaks.free, msleaks.wrapper, msleaks.ignore and msleaks.cfg
// FIELD: error: msleaks: annotation "msleaks.alloc:sise=0" of pool: a row of kind 'alloc' has no field 'sise'
// WHICH: error: msleaks: annotation "msleaks.free" of pool: which parameter is the block? say address=<number>
// POSITION: error: msleaks: annotation "msleaks.alloc:size=9" of pool: size=9: the function has 3 parameters
// NEGATIVE: error: msleaks: annotation "msleaks.alloc:size=-4" of pool: size=-4: the function has 3 parameters
// ADDRESS: error: msleaks: annotation "msleaks.free:address=3" of pool: address=3: the function has 3 parameters
// STATUS: error: msleaks: annotation "msleaks.alloc:result=out(0)" of pool: result=out: the function returns no status
// PARTNER: error: msleaks: annotation "msleaks.alloc:free=put" of pool: free= belongs into a rows file; here heap= stands on both functions
// POINTER: error: msleaks: annotation "msleaks.alloc:size=0" of pool: the function returns no pointer: say result=out(<number>) if it stores the block
// DOUBLE: error: msleaks: annotation "msleaks.alloc:size=0" of pool: size=0: that parameter is neither a pointer nor an integer
// ROW: error: msleaks: row of pool: address=3: the function has 3 parameters
#include <stddef.h>
#ifndef RESULT
#define RESULT void *
#endif
#ifndef A
#define A void *
#endif
#ifndef STATIC
#define STATIC
#endif

__attribute__((annotate(ANNOTATION))) STATIC RESULT pool(A a, void *b, size_t size) { return (RESULT)(size ? b : 0); }
