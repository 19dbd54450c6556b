// Code without unwind tables: functions that call each other at random, by all kinds of calls in C. One library
// contains this file three times (MSL_KIND): without optimisation, with optimisation, and with optimisation but no
// frame pointers.
#include "without_tables.h"

#include <stddef.h>

#define NAME2(kind, name) msl_test_##kind##_##name
#define NAME1(kind, name) NAME2(kind, name)
#define NAME(name) NAME1(MSL_KIND, name)

typedef void function(int depth);
#define DECLARE(kind)                                                                                                  \
  function NAME1(kind, pass), NAME1(kind, first), NAME1(kind, second), NAME1(kind, third), NAME1(kind, last);
DECLARE(plain)
DECLARE(fast)
DECLARE(bare)

static function *const volatile any[] = {msl_test_plain_first, msl_test_fast_second, msl_test_bare_third,
                                         msl_test_bare_first,  msl_test_plain_third, msl_test_fast_last};

static unsigned state = 1;
static unsigned at_random(unsigned most) {
  state = state * 1664525 + 1013904223;
  return (state >> 8) % most;
}

#define ENTER() (msl_test_callers[msl_test_depth++] = __builtin_return_address(0))
#define LEAVE() (--msl_test_depth)
#ifdef __OPTIMIZE__
#define JUMP(next, depth) next(depth)
#else
#define JUMP(next, depth) (void)(depth)
#endif

// Calls only itself. Without frame pointers, the frame pointer's register may hold any value.
__attribute__((noinline)) void NAME(down)(int depth) {
  volatile char filler[16];
  ENTER();
  filler[0] = 1;
  if (depth != 0)
    NAME(down)(depth - 1);
  else
    msl_test_check();
  filler[1] = 1;
  LEAVE();
}

// This function is so small that it does not change the frame pointer's register.
__attribute__((noinline)) void NAME(pass)(int depth) {
  ENTER();
  msl_test_check();
  LEAVE();
  (void)depth;
}

// Defines a function whose frame has `bytes` bytes of stack. At most two of these bytes are written.
#define FUNCTION(name, bytes, next, other)                                                                             \
  __attribute__((noinline)) void NAME(name)(int depth) {                                                               \
    volatile char filler[bytes];                                                                                       \
    ENTER();                                                                                                           \
    for (int i = 0; i < 2; ++i) {                                                                                      \
      filler[i] = 1;                                                                                                   \
      if (depth == 0)                                                                                                  \
        break;                                                                                                         \
      switch (at_random(5)) {                                                                                          \
      case 0:                                                                                                          \
        next(depth - 1);                                                                                               \
        break;                                                                                                         \
      case 1:                                                                                                          \
        other(depth - 1);                                                                                              \
        break;                                                                                                         \
      case 2:                                                                                                          \
        any[at_random(sizeof any / sizeof *any)](depth - 1);                                                           \
        break;                                                                                                         \
      default:                                                                                                         \
        msl_test_check();                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    msl_test_check();                                                                                                  \
    LEAVE();                                                                                                           \
    if (depth > 1 && depth % 3 == 0)                                                                                   \
      JUMP(next, depth - 2);                                                                                           \
  }

FUNCTION(first, 24, msl_test_fast_last, msl_test_fast_third)
FUNCTION(second, 200, msl_test_fast_first, msl_test_bare_pass)
FUNCTION(third, 2, msl_test_fast_second, msl_test_plain_last)
// The compiler may reorder the functions. So each function of this file may be the last one with a frame record in the
// library, before the functions without one.
FUNCTION(last, 1000, msl_test_bare_pass, msl_test_bare_third)
