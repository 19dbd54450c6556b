// Stands in for what Ascend CANN counts: built with STANDIN_RUNTIME for libruntime.so, else for ACL above it.
#include "../common/objects.h"

#include <cstdint>

#ifdef STANDIN_RUNTIME
namespace {
auto &streams = *new standin::Objects("stream");
auto &events = *new standin::Objects("event");
} // namespace

extern "C" {
int rtStreamCreate(void **made, int32_t) { return streams.make(made); }
int rtStreamCreateWithFlags(void **made, int32_t, uint32_t) { return streams.make(made); }
int rtStreamDestroy(void *stream) { return streams.destroy(stream); }
int rtStreamDestroyForce(void *stream) { return streams.destroy(stream); }
int rtEventCreate(void **made) { return events.make(made); }
int rtEventCreateWithFlag(void **made, uint32_t) { return events.make(made); }
int rtEventCreateExWithFlag(void **made, uint32_t) { return events.make(made); }
int rtEventDestroy(void *event) { return events.destroy(event); }
}
#else
namespace {
auto &contexts = *new standin::Objects("context");
}

extern "C" {
int rtStreamCreate(void **, int32_t);
int rtStreamCreateWithFlags(void **, int32_t, uint32_t);
int rtStreamDestroy(void *);
int rtStreamDestroyForce(void *);
int rtEventCreate(void **);
int rtEventCreateWithFlag(void **, uint32_t);
int rtEventCreateExWithFlag(void **, uint32_t);
int rtEventDestroy(void *);

int aclrtCreateStream(void **made) { return rtStreamCreate(made, 0); }
int aclrtCreateStreamWithConfig(void **made, uint32_t priority, uint32_t flag) {
  return rtStreamCreateWithFlags(made, static_cast<int32_t>(priority), flag);
}
int aclrtDestroyStream(void *stream) { return rtStreamDestroy(stream); }
int aclrtDestroyStreamForce(void *stream) { return rtStreamDestroyForce(stream); }
int aclrtCreateEvent(void **made) { return rtEventCreate(made); }
int aclrtCreateEventWithFlag(void **made, uint32_t flag) { return rtEventCreateWithFlag(made, flag); }
int aclrtCreateEventExWithFlag(void **made, uint32_t flag) { return rtEventCreateExWithFlag(made, flag); }
int aclrtDestroyEvent(void *event) { return rtEventDestroy(event); }
int aclrtCreateContext(void **made, int32_t device) { return device < 0 ? 400 : contexts.make(made); }
int aclrtDestroyContext(void *context) { return contexts.destroy(context); }
}
#endif
