// A library without unwind tables, which itself reports the calls under way.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

extern void *msl_test_callers[1024]; // return addresses of its functions that run, first call first
extern unsigned msl_test_depth;
extern void (*msl_test_check)(void);

// Each kind is compiled without optimisation, with it, and without frame pointers.
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
