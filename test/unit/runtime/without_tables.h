// Declares a library without unwind tables. The library itself records which of its functions are running.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

extern void *msl_test_callers[1024]; // return addresses of the library's running functions, outermost first
extern unsigned msl_test_depth;
extern void (*msl_test_check)(void);

// plain: compiled without optimisation; fast: with optimisation; bare: with optimisation and without frame pointers.
void msl_test_plain_first(int depth);
void msl_test_fast_first(int depth);
void msl_test_bare_first(int depth);
void msl_test_plain_down(int depth);
void msl_test_fast_down(int depth);
void msl_test_bare_down(int depth);
void msl_test_plain_pass(int depth);
void msl_test_bare_pass(int depth);

#ifdef __cplusplus
}
#endif
