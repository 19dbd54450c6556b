/* A program uses the stand-in of ATB through these functions. They hide
 * ATB's classes, so a C program can use both builds of the stand-in. */
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

/* Sets the first float of each output to the sum of the inputs' first floats. Also sets `stray` more bytes of the first
 * output. */
int atbExecute(const char *operation, const atbTensor *in, size_t ins, const atbTensor *out, size_t outs,
               void *workspace, size_t workspace_bytes, size_t stray, aclrtStream stream);

/* Executes an operator with invalid arguments. The operator refuses them. */
int atbExecuteStrange(void);

/* Switches the saving of tensors on or off, like an environment variable of ATB. Returns the number of saved files. */
int atbSaveTensors(int yes);

#ifdef __cplusplus
}
#endif
