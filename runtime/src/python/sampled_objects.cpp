#include "sampled_objects.h"

#include "calls.h"
#include "exponential.h"

#include "../image.h"
#include "../session.h"

#include "msleaks/abi/python_sample.h"
#include "msleaks/runtime/note.h"
#include "msleaks/runtime/path.h"

#include <atomic>
#include <cstring>

namespace msleaks::runtime::python {
namespace {

// PyMemAllocatorEx and PyMemAllocatorDomain of CPython.
struct Allocator {
  void *context;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *);
};
enum class Domain { Raw, Memory, Objects };

constinit Allocator original{};             // Python's functions for small objects
constinit std::atomic<uint64_t> threads{0}; // number of threads that have sampled

struct Sampler {
  int64_t left; // bytes until the next sampled request
  bool has_begun;
  Random random;
};
constinit __thread Sampler sampler{};

// Moves the thread on by a request. Returns whether the request is sampled.
[[gnu::always_inline]] inline bool isDue(size_t size) noexcept {
  if (size > abi::kMostSampledBytes)
    return false;
  sampler.left -= static_cast<int64_t>(abi::sampleUnitsOf(size) * abi::kSampleUnitBytes);
  return sampler.left < 0;
}

// The thread's distance has ended. Chooses the next one. Returns false at the thread's first request: the distance was
// not chosen before, so this function does the work of isDue().
bool beginDistance(size_t size) noexcept {
  if (!sampler.has_begun) {
    sampler.has_begun = true;
    sampler.random.seed(threads.fetch_add(1, std::memory_order_relaxed));
    sampler.left = sampler.random.distance(abi::kSampleBytes);
    if (!isDue(size))
      return false;
  }
  sampler.left = sampler.random.distance(abi::kSampleBytes);
  return true;
}

uint32_t pathTo(const void *caller, const CallerFrame &own) noexcept {
  const auto address = reinterpret_cast<uint64_t>(caller);
  return (enabledWord() & abi::kPathsOfCallers) != 0
             ? __msl_path_to(address, own.return_address, own.stack_pointer, own.frame_pointer, 0)
             : callerSite(address);
}

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
  const uint32_t path = pathTo(caller, callerFrame());
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

Allocator allocatorOf(Domain domain) noexcept {
  Allocator allocator{};
  functionAt<void(Domain, Allocator *)>(python.symbols.get_allocator)(domain, &allocator);
  return allocator;
}

bool isOfPython(const Allocator &allocator) noexcept {
  ImagePlace place{}, of_python{};
  return findImage(reinterpret_cast<const void *>(allocator.malloc), place) &&
         findImage(reinterpret_cast<const void *>(python.symbols.evaluate), of_python) &&
         place.definition.load_bias == of_python.definition.load_bias;
}

bool areSame(const Allocator &a, const Allocator &b) noexcept { return std::memcmp(&a, &b, sizeof a) == 0; }

// Whether these are Python's usual functions, which take small objects from arenas. They need no context, so a thread
// that calls them while they are replaced does no harm. Functions of debuggers and of the program have one, or are not
// in Python's image.
bool areUsual(const Allocator &memory, const Allocator &objects) noexcept {
  return areSame(memory, objects) && objects.context == nullptr && isOfPython(objects);
}

bool hasNoGlobalLock() noexcept { return std::strstr(python.symbols.version, "free-threading") != nullptr; }

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
    functionAt<void(Domain, const Allocator *)>(python.symbols.set_allocator)(domain, &ours);
}

} // namespace

void sampleObjects() noexcept {
  const bool is_wanted = session.control->flags.python_objects == abi::PythonObjects::Sample && hasFunctions();
  if (is_wanted && !hasNoGlobalLock() && functionAt<int()>(python.symbols.holds_lock)() == 0)
    return;
  if (__atomic_exchange_n(&python.are_objects_decided, true, __ATOMIC_RELAXED) || !is_wanted)
    return;
  if (hasNoGlobalLock())
    return __msl_note("small objects of Python are not sampled: this Python has no global lock");
  replaceFunctions();
}

} // namespace msleaks::runtime::python
