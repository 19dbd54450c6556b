#include "object_door.h"

#include "../image.h"
#include "../session.h"

#include "msleaks/runtime/path.h"
#include "msleaks/runtime/python.h"

#include <atomic>
#include <cstring>

namespace msleaks::runtime::python {
namespace {

constinit std::atomic<uint64_t> threads{0}; // number of threads that have sampled

// Also for a Python whose layout is not known.
bool hasNoGlobalLock() noexcept {
  const char *version = python.symbols.version;
  return version != nullptr && std::strstr(version, "free-threading") != nullptr;
}

bool isInPython(const void *address) noexcept {
  ImagePlace place{}, of_python{};
  return findImage(address, place) && findImage(reinterpret_cast<const void *>(python.symbols.evaluate), of_python) &&
         place.definition.load_bias == of_python.definition.load_bias;
}

} // namespace

constinit __thread Sampler sampler{};

Allocator allocatorOf(Domain domain) noexcept {
  Allocator allocator{};
  functionAt<void(Domain, Allocator *)>(python.symbols.get_allocator)(domain, &allocator);
  return allocator;
}

void setAllocator(Domain domain, const Allocator &allocator) noexcept {
  functionAt<void(Domain, const Allocator *)>(python.symbols.set_allocator)(domain, &allocator);
}

bool isOfPython(const Allocator &allocator) noexcept {
  return allocator.context == nullptr && isInPython(reinterpret_cast<const void *>(allocator.malloc));
}

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

uint32_t pathOfDoor(const void *caller, const CallerFrame &own) noexcept {
  const auto address = reinterpret_cast<uint64_t>(caller);
  return (enabledWord() & abi::kPathsOfCallers) != 0
             ? __msl_path_to(address, own.return_address, own.stack_pointer, own.frame_pointer, 0)
             : callerSite(address);
}

} // namespace msleaks::runtime::python

bool __msl_maps_objects(const void *caller) noexcept {
  using namespace msleaks::runtime::python;
  return hasNoGlobalLock() && isInPython(caller);
}
