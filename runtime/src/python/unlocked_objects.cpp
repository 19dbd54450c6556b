#include "unlocked_objects.h"

#include "address_set.h"
#include "object_door.h"

#include "../session.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/path.h"

#include <cerrno>

namespace msleaks::runtime::python {
namespace {

constinit Allocator originals[3]{}; // by domain: Python's functions
constinit bool are_small_sampled = false;
constinit AddressSet recorded{}; // the live blocks with a recorded allocation

uint64_t addressOf(const void *block) noexcept { return reinterpret_cast<uint64_t>(block); }

// Whether the request is recorded.
[[gnu::always_inline]] inline bool isRecorded(size_t size) noexcept {
  return size > abi::kMostSampledBytes || (are_small_sampled && isDue(size) && beginDistance(size));
}

bool mayRecord(const Thread &thread) noexcept {
  return isEnabled(abi::EventKind::Alloc) && thread.call.inside != kInsideRuntime;
}

void recordBlock(const void *block, size_t size, uint16_t flags, uint32_t path) noexcept {
  if (!recorded.add(addressOf(block)))
    return;
  if (size > abi::kMostSampledBytes || (flags & abi::kRealloc) != 0)
    recordAlloc(abi::Heap::Host, flags | abi::kFromHook, path, addressOf(block), size, path);
  else
    recordAlloc(abi::Heap::Python, flags | abi::kFromHook, path, addressOf(block), size, path,
                abi::sampleUnitsOf(size));
}

// Mappings of the allocator are not recorded, because its blocks lie in them.
template <class Allocate> void *callInside(Thread &thread, Allocate allocate) noexcept {
  const Inside inside(thread);
  return allocate();
}

template <class Allocate>
[[gnu::noinline]] void *recordedMalloc(size_t size, uint16_t flags, const void *caller, Allocate allocate) noexcept {
  Thread &thread = __msl_thread;
  if (!mayRecord(thread))
    return allocate();
  void *block = callInside(thread, allocate);
  const uint32_t path = pathOfDoor(caller, callerFrame());
  if (block != nullptr)
    recordBlock(block, size, flags, path);
  else
    recordAllocFailed(abi::Heap::Host, flags | abi::kFromHook, path, size, static_cast<uint64_t>(errno));
  return block;
}

template <Domain kDomain> void *mallocAtDoor(void *context, size_t size) noexcept {
  const Allocator &original = originals[static_cast<int>(kDomain)];
  if (!isRecorded(size)) [[likely]]
    return original.malloc(context, size);
  return recordedMalloc(size, 0, __builtin_return_address(0), [&] { return original.malloc(context, size); });
}

template <Domain kDomain> void *callocAtDoor(void *context, size_t count, size_t size) noexcept {
  const Allocator &original = originals[static_cast<int>(kDomain)];
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || !isRecorded(bytes)) [[likely]]
    return original.calloc(context, count, size);
  return recordedMalloc(bytes, abi::kZeroed, __builtin_return_address(0),
                        [&] { return original.calloc(context, count, size); });
}

// The block has a recorded allocation. It stays recorded, whatever its new size is. If Python's allocator refuses, the
// old block stays alive.
template <class Reallocate>
[[gnu::noinline]] void *reallocRecorded(void *old, size_t size, const void *caller, Reallocate reallocate) noexcept {
  Thread &thread = __msl_thread;
  const uint32_t path = pathOfDoor(caller, callerFrame());
  recordFree(abi::Heap::Host, abi::kRealloc | abi::kFromHook, path, addressOf(old), 0);
  void *block = callInside(thread, reallocate);
  if (block != nullptr)
    recordBlock(block, size, abi::kRealloc, path);
  else if (recorded.add(addressOf(old)))
    recordAlloc(abi::Heap::Host, abi::kRealloc | abi::kRestored | abi::kFromHook, path, addressOf(old), 0);
  return block;
}

template <Domain kDomain> void *reallocAtDoor(void *context, void *old, size_t size) noexcept {
  const Allocator &original = originals[static_cast<int>(kDomain)];
  const auto reallocate = [&] { return original.realloc(context, old, size); };
  if (old != nullptr && recorded.remove(addressOf(old))) [[unlikely]]
    return reallocRecorded(old, size, __builtin_return_address(0), reallocate);
  const bool is_recorded = old == nullptr ? isRecorded(size) : size > abi::kMostSampledBytes;
  return is_recorded ? recordedMalloc(size, 0, __builtin_return_address(0), reallocate) : reallocate();
}

template <Domain kDomain> void freeAtDoor(void *context, void *block) noexcept {
  if (block != nullptr && recorded.remove(addressOf(block))) [[unlikely]]
    recordFree(abi::Heap::Host, abi::kFromHook, callerSite(addressOf(__builtin_return_address(0))), addressOf(block),
               0);
  originals[static_cast<int>(kDomain)].free(context, block);
}

template <Domain kDomain> void standAtDoor() noexcept {
  setAllocator(kDomain,
               {nullptr, mallocAtDoor<kDomain>, callocAtDoor<kDomain>, reallocAtDoor<kDomain>, freeAtDoor<kDomain>});
}

} // namespace

void recordUnlockedObjects(bool is_sampled) noexcept {
  for (const Domain domain : {Domain::Memory, Domain::Objects}) {
    Allocator &original = originals[static_cast<int>(domain)] = allocatorOf(domain);
    if (!isOfPython(original))
      return __msl_note("small objects of Python are not sampled, and larger ones are not recorded: something has "
                        "replaced Python's allocator");
  }
  if (!recorded.open())
    return __msl_note("small objects of Python are not sampled, and larger ones are not recorded: no memory");
  are_small_sampled = is_sampled;
  standAtDoor<Domain::Memory>();
  standAtDoor<Domain::Objects>();
}

} // namespace msleaks::runtime::python
