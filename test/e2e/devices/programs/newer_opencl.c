// A library that the linker finds before OpenCL. If $STANDIN_VERSION is set, the platforms report this version.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int clGetPlatformInfo(void *platform, unsigned what, size_t bytes, void *value, size_t *length) {
  typedef int (*Ask)(void *, unsigned, size_t, void *, size_t *);
  enum { kVersion = 0x0901 };
  const Ask real = (Ask)dlsym(RTLD_NEXT, "clGetPlatformInfo");
  const int status = real(platform, what, bytes, value, length);
  const char *version = getenv("STANDIN_VERSION");
  if (status == 0 && what == kVersion && value != NULL && version != NULL)
    snprintf(value, bytes, "OpenCL %s.0 ", version);
  return status;
}
