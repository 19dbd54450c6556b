// Hooks of functions of Ascend CANN that open and close handles: streams, events and contexts. A function of ACL calls
// one of the runtime below it. Only the outer call is recorded.
#include "msleaks/hook.h"

#include <cstdint>

using Stream = void *;
using Event = void *;
using Context = void *;

MSL_HOOK(libascendcl, int, aclrtCreateStream, (Stream *))
MSL_HOOK(libascendcl, int, aclrtCreateStreamWithConfig, (Stream *, uint32_t, uint32_t))
MSL_HOOK(libascendcl, int, aclrtDestroyStream, (Stream))
MSL_HOOK(libascendcl, int, aclrtDestroyStreamForce, (Stream))
MSL_HOOK(libascendcl, int, aclrtCreateEvent, (Event *))
MSL_HOOK(libascendcl, int, aclrtCreateEventWithFlag, (Event *, uint32_t))
MSL_HOOK(libascendcl, int, aclrtCreateEventExWithFlag, (Event *, uint32_t))
MSL_HOOK(libascendcl, int, aclrtDestroyEvent, (Event))
MSL_HOOK(libascendcl, int, aclrtCreateContext, (Context *, int32_t))
MSL_HOOK(libascendcl, int, aclrtDestroyContext, (Context))

MSL_HOOK(libruntime, int, rtStreamCreate, (Stream *, int32_t))
MSL_HOOK(libruntime, int, rtStreamCreateWithFlags, (Stream *, int32_t, uint32_t))
MSL_HOOK(libruntime, int, rtStreamDestroy, (Stream))
MSL_HOOK(libruntime, int, rtStreamDestroyForce, (Stream))
MSL_HOOK(libruntime, int, rtEventCreate, (Event *))
MSL_HOOK(libruntime, int, rtEventCreateWithFlag, (Event *, uint32_t))
MSL_HOOK(libruntime, int, rtEventCreateExWithFlag, (Event *, uint32_t))
MSL_HOOK(libruntime, int, rtEventDestroy, (Event))
