// Defines the functions that clang's constructors call in a program with kernels. The program launches no kernel.
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
