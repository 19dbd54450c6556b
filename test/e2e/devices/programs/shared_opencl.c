// A library that the linker finds before OpenCL. It imitates a driver for a device other than the processor. Such a
// driver does not allocate shared memory by malloc, and the program's callback for a free runs on a driver's thread.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { kDone = 0, kInvalidValue = -30, kInvalidWaitList = -57, kArena = 1 << 20, kAligned = 128 };

typedef void (*Notify)(void *queue, unsigned count, void **blocks, void *user);
struct Frees {
  void *queue, **blocks, *user;
  unsigned count;
  Notify notify;
};

static _Alignas(kAligned) char arena[kArena];
static size_t used;

void *clSVMAlloc(void *context, uint64_t flags, size_t bytes, unsigned alignment) {
  (void)context, (void)flags, (void)alignment;
  void *block = arena + used;
  used += (bytes + kAligned - 1) / kAligned * kAligned;
  return block;
}

void clSVMFree(void *context, void *block) { (void)context, (void)block; }

static void *free_them(void *given) {
  const struct Frees *frees = given;
  if (frees->notify != NULL)
    frees->notify(frees->queue, frees->count, frees->blocks, frees->user);
  return NULL;
}

int clEnqueueSVMFree(void *queue, unsigned count, void **blocks, Notify notify, void *user, unsigned waits,
                     const void *wait_for, void **event) {
  struct Frees frees = {queue, blocks, user, count, notify};
  pthread_t thread;
  (void)event;
  if (count == 0 || blocks == NULL)
    return kInvalidValue;
  if (waits != 0 && wait_for == NULL)
    return kInvalidWaitList;
  pthread_create(&thread, NULL, free_them, &frees);
  pthread_join(thread, NULL);
  return kDone;
}
