// Defines empty functions in place of the runtime library of CUDA or HIP. Clang's constructors call these functions.
#define NOTHING(name)                                                                                                  \
  void *name(void) { return 0; }
#define BOTH(runtime)                                                                                                  \
  NOTHING(__##runtime##RegisterFatBinary)                                                                              \
  NOTHING(__##runtime##RegisterFatBinaryEnd)                                                                           \
  NOTHING(__##runtime##RegisterFunction)                                                                               \
  NOTHING(__##runtime##RegisterVar)                                                                                    \
  NOTHING(__##runtime##UnregisterFatBinary)                                                                            \
  NOTHING(__##runtime##PopCallConfiguration)                                                                           \
  NOTHING(runtime##LaunchKernel)
BOTH(cuda)
BOTH(hip)
