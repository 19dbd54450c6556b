// Imitates the handles of Ascend CANN: of libruntime.so if STANDIN_RUNTIME is defined, otherwise of ACL.
#include "../common/objects.h"
#include "../common/refusal.h"

#include <cstdint>

#ifdef STANDIN_RUNTIME
namespace {
auto &streams = *new standin::Objects("stream");
auto &events = *new standin::Objects("event");
} // namespace

extern "C" {
int rtStreamCreate(void **made, int32_t) {
  STANDIN_MAY_REFUSE();
  return streams.make(made);
}
int rtStreamCreateWithFlags(void **made, int32_t, uint32_t) {
  STANDIN_MAY_REFUSE();
  return streams.make(made);
}
int rtStreamDestroy(void *stream) {
  STANDIN_MAY_REFUSE();
  return streams.destroy(stream);
}
int rtStreamDestroyForce(void *stream) {
  STANDIN_MAY_REFUSE();
  return streams.destroy(stream);
}
int rtEventCreate(void **made) {
  STANDIN_MAY_REFUSE();
  return events.make(made);
}
int rtEventCreateWithFlag(void **made, uint32_t) {
  STANDIN_MAY_REFUSE();
  return events.make(made);
}
int rtEventCreateExWithFlag(void **made, uint32_t) {
  STANDIN_MAY_REFUSE();
  return events.make(made);
}
int rtEventDestroy(void *event) {
  STANDIN_MAY_REFUSE();
  return events.destroy(event);
}
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

int aclrtCreateStream(void **made) {
  STANDIN_MAY_REFUSE();
  return rtStreamCreate(made, 0);
}
int aclrtCreateStreamWithConfig(void **made, uint32_t priority, uint32_t flag) {
  STANDIN_MAY_REFUSE();
  return rtStreamCreateWithFlags(made, static_cast<int32_t>(priority), flag);
}
int aclrtDestroyStream(void *stream) {
  STANDIN_MAY_REFUSE();
  return rtStreamDestroy(stream);
}
int aclrtDestroyStreamForce(void *stream) {
  STANDIN_MAY_REFUSE();
  return rtStreamDestroyForce(stream);
}
int aclrtCreateEvent(void **made) {
  STANDIN_MAY_REFUSE();
  return rtEventCreate(made);
}
int aclrtCreateEventWithFlag(void **made, uint32_t flag) {
  STANDIN_MAY_REFUSE();
  return rtEventCreateWithFlag(made, flag);
}
int aclrtCreateEventExWithFlag(void **made, uint32_t flag) {
  STANDIN_MAY_REFUSE();
  return rtEventCreateExWithFlag(made, flag);
}
int aclrtDestroyEvent(void *event) {
  STANDIN_MAY_REFUSE();
  return rtEventDestroy(event);
}
int aclrtCreateContext(void **made, int32_t device) {
  STANDIN_MAY_REFUSE();
  return device < 0 ? 400 : contexts.make(made);
}
int aclrtDestroyContext(void *context) {
  STANDIN_MAY_REFUSE();
  return contexts.destroy(context);
}
}
#endif
