// With -DGUARDED, GUARD at the beginning of a function turns its calls into invokes, because a cleanup must run on an exception.
#pragma once
#ifdef GUARDED
struct Guard {
  ~Guard() { __asm__ volatile("" ::: "memory"); }
};
#define GUARD const Guard guard
#else
#define GUARD (void)0
#endif
