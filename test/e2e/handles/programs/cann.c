// Creates handles of Ascend's ACL and of the runtime below it. Each MAKE creates two objects and destroys one, or both
// with `mended`. A comment names the handle that stays open. Refused calls must not change the count of handles.
// clang-format off: a call and its comment must be in one line
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int aclrtCreateStream(void **);
int aclrtCreateStreamWithConfig(void **, uint32_t, uint32_t);
int aclrtDestroyStream(void *);
int aclrtDestroyStreamForce(void *);
int aclrtCreateEvent(void **);
int aclrtCreateEventWithFlag(void **, uint32_t);
int aclrtCreateEventExWithFlag(void **, uint32_t);
int aclrtDestroyEvent(void *);
int aclrtCreateContext(void **, int32_t);
int aclrtDestroyContext(void *);
int rtStreamCreate(void **, int32_t);
int rtStreamCreateWithFlags(void **, int32_t, uint32_t);
int rtStreamDestroy(void *);
int rtStreamDestroyForce(void *);
int rtEventCreate(void **);
int rtEventCreateWithFlag(void **, uint32_t);
int rtEventCreateExWithFlag(void **, uint32_t);
int rtEventDestroy(void *);

static int mended, failures;

static void expect(int right, const char *what) {
  if (!right) {
    printf("%s\n", what);
    ++failures;
  }
}

// Creates two objects of a kind and leaves the second one open, except with `mended`.
#define MAKE(Type, create, destroy, ...)                                                                               \
  do {                                                                                                                 \
    Type one = (Type)0; Type two = (Type)0;                                                                               \
    expect(create(&one __VA_ARGS__) == 0 && create(&two __VA_ARGS__) == 0, #create);                                   \
    expect(one != two, #create " makes one twice");                                                                    \
    expect(destroy(one) == 0, #destroy);                                                                               \
    expect(destroy(one) != 0, #destroy " of none");                                                                    \
    if (mended)                                                                                                        \
      expect(destroy(two) == 0, #destroy " of the second");                                                            \
  } while (0)
#define WITH ,

int main(int argc, char **argv) {
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  MAKE(void *, aclrtCreateStream, aclrtDestroyStream); // forgets stream 1
  MAKE(void *, aclrtCreateStreamWithConfig, aclrtDestroyStreamForce, WITH 0 WITH 1); // forgets stream 1
  MAKE(void *, aclrtCreateEvent, aclrtDestroyEvent); // forgets event 1
  MAKE(void *, aclrtCreateEventWithFlag, aclrtDestroyEvent, WITH 1); // forgets event 1
  MAKE(void *, aclrtCreateEventExWithFlag, aclrtDestroyEvent, WITH 1); // forgets event 1
  MAKE(void *, aclrtCreateContext, aclrtDestroyContext, WITH 0); // forgets context 1
  void *none = (void *)8;
  expect(aclrtCreateContext(&none, -1) != 0, "a context of no device");
  MAKE(void *, rtStreamCreate, rtStreamDestroy, WITH 0); // forgets stream 1
  MAKE(void *, rtStreamCreateWithFlags, rtStreamDestroyForce, WITH 0 WITH 1); // forgets stream 1
  MAKE(void *, rtEventCreate, rtEventDestroy); // forgets event 1
  MAKE(void *, rtEventCreateWithFlag, rtEventDestroy, WITH 1); // forgets event 1
  MAKE(void *, rtEventCreateExWithFlag, rtEventDestroy, WITH 1); // forgets event 1
  printf("%d failures\n", failures);
  return failures != 0;
}
