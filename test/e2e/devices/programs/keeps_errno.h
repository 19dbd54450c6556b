// Checks that a call leaves errno unchanged and returns the expected status.
#pragma once

#include <errno.h>
#include <stdio.h>

enum { kBefore = EDOM };
static int failures;

#define KEEPS(call, wanted)                                                                                            \
  do {                                                                                                                 \
    errno = kBefore;                                                                                                   \
    const int status = (int)(call);                                                                                    \
    const int behind = errno;                                                                                          \
    if (status != (wanted) || behind != kBefore) {                                                                     \
      printf(#call ": status %d, errno %d\n", status, behind);                                                         \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)
