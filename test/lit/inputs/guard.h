// With -DGUARDED, GUARD at the head of a function makes its calls invokes: a cleanup runs when one throws.
#pragma once
#ifdef GUARDED
struct Guard {
  ~Guard() { __asm__ volatile("" ::: "memory"); }
};
#define GUARD const Guard guard
#else
#define GUARD (void)0
#endif
