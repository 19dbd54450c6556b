#include "sampled_objects.h"

#include "object_door.h"
#include "unlocked_objects.h"

#include "../session.h"

#include "msleaks/runtime/note.h"

#include <cstring>

namespace msleaks::runtime::python {
namespace {

constinit Allocator original{}; // Python's functions for small objects

// Calls `allocate` for a sampled request, and records its result. Returns null if the request is not sampled after all.
template <class Allocate>
[[gnu::always_inline]] inline void *sampled(size_t size, uint16_t flags, const void *caller,
                                            Allocate allocate) noexcept {
  Thread &thread = __msl_thread;
  if (!beginDistance(size) || !isEnabled(abi::EventKind::Alloc) || thread.call.inside == kInsideRuntime)
    return nullptr;
  void *block = nullptr;
  {
    const Inside inside(thread);
    block = allocate();
  }
  if (block == nullptr)
    return nullptr;
  const uint32_t path = pathOfDoor(caller, callerFrame());
  recordAlloc(abi::Heap::Python, flags | abi::kFromHook, path, reinterpret_cast<uint64_t>(block), size, path,
              abi::sampleUnitsOf(size));
  return block;
}

[[gnu::noinline, gnu::cold]] void *sampledMalloc(void *context, size_t size, const void *caller) noexcept {
  const auto allocate = [=] { return functionAt<void *(size_t)>(python.symbols.raw_malloc)(size); };
  void *block = sampled(size, 0, caller, allocate);
  return block != nullptr ? block : original.malloc(context, size);
}

[[gnu::noinline, gnu::cold]] void *sampledCalloc(void *context, size_t count, size_t size,
                                                 const void *caller) noexcept {
  const auto allocate = [=] { return functionAt<void *(size_t, size_t)>(python.symbols.raw_calloc)(count, size); };
  void *block = sampled(count * size, abi::kZeroed, caller, allocate);
  return block != nullptr ? block : original.calloc(context, count, size);
}

void *mallocAtDoor(void *context, size_t size) noexcept {
  if (isDue(size)) [[unlikely]]
    return sampledMalloc(context, size, __builtin_return_address(0));
  return original.malloc(context, size);
}

void *callocAtDoor(void *context, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes) && isDue(bytes)) [[unlikely]]
    return sampledCalloc(context, count, size, __builtin_return_address(0));
  return original.calloc(context, count, size);
}

// A block that grows or shrinks stays in the sample, or stays outside of it: it was chosen when it was made.
void *reallocAtDoor(void *context, void *block, size_t size) noexcept {
  if (block == nullptr && isDue(size)) [[unlikely]]
    return sampledMalloc(context, size, __builtin_return_address(0));
  return original.realloc(context, block, size);
}

bool areSame(const Allocator &a, const Allocator &b) noexcept { return std::memcmp(&a, &b, sizeof a) == 0; }

// Whether these are Python's usual functions, which take small objects from arenas.
bool areUsual(const Allocator &memory, const Allocator &objects) noexcept {
  return areSame(memory, objects) && isOfPython(objects);
}

bool hasFunctions() noexcept {
  const PythonSymbols &symbols = python.symbols;
  return symbols.get_allocator != 0 && symbols.set_allocator != 0 && symbols.raw_malloc != 0 &&
         symbols.raw_calloc != 0 && symbols.holds_lock != 0;
}

void replaceFunctions() noexcept {
  const Allocator objects = allocatorOf(Domain::Objects);
  if (objects.malloc == allocatorOf(Domain::Raw).malloc)
    return; // each object is from malloc, so each is recorded (PYTHONMALLOC=malloc)
  if (!areUsual(allocatorOf(Domain::Memory), objects))
    return __msl_note("small objects of Python are not sampled: something has replaced Python's allocator");
  original = objects;
  const Allocator ours{nullptr, mallocAtDoor, callocAtDoor, reallocAtDoor, objects.free};
  for (const Domain domain : {Domain::Memory, Domain::Objects})
    setAllocator(domain, ours);
}

} // namespace

void sampleObjects() noexcept {
  const bool is_sampled = session.control->flags.python_objects == abi::PythonObjects::Sample;
  const bool has_lock = !python.layout.has_no_lock;
  const bool is_wanted = (is_sampled || !has_lock) && hasFunctions();
  if (is_wanted && has_lock && functionAt<int()>(python.symbols.holds_lock)() == 0)
    return;
  if (__atomic_exchange_n(&python.are_objects_decided, true, __ATOMIC_RELAXED) || !is_wanted)
    return;
  if (has_lock)
    replaceFunctions();
  else
    recordUnlockedObjects(is_sampled);
}

} // namespace msleaks::runtime::python
