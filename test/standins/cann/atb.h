/* Functions by which a program uses the stand-in of ATB. ATB's classes
 * are behind them, so a C program drives either build of it. */
#pragma once
#include "acl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATB_NO_ERROR = 0, ATB_ERROR_INVALID_PARAM = 1, ATB_ERROR_INTERNAL_ERROR = 3, ATB_ERROR_RT_FAIL = 4 };

typedef struct {
  void *data;
  size_t bytes;
} atbTensor;

/* The first element of each output becomes the sum of those of the inputs, all floats, and `stray` more bytes of it are
 * set. */
int atbExecute(const char *operation, const atbTensor *in, size_t ins, const atbTensor *out, size_t outs,
               void *workspace, size_t workspace_bytes, size_t stray, aclrtStream stream);

/* An operator that gets senseless arguments and refuses them. */
int atbExecuteStrange(void);

/* Saves tensors from here on, as an environment variable of ATB does. Returns the number of files so far. */
int atbSaveTensors(int yes);

#ifdef __cplusplus
}
#endif
