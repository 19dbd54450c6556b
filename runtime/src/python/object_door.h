// The door of Python's allocator: the functions that Python calls for its objects. The runtime replaces them, and
// chooses the requests that are sampled (msleaks/abi/python_sample.h).
#pragma once

#include "calls.h"
#include "exponential.h"

#include "msleaks/abi/python_sample.h"
#include "msleaks/runtime/path.h"

#include <cstddef>

namespace msleaks::runtime::python {

// PyMemAllocatorEx and PyMemAllocatorDomain of CPython.
struct Allocator {
  void *context;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *);
};
enum class Domain { Raw, Memory, Objects };

Allocator allocatorOf(Domain) noexcept;
void setAllocator(Domain, const Allocator &) noexcept;

// Whether this is a function of Python itself that needs no context. So a thread that calls it while the functions are
// replaced does no harm. Functions of debuggers and of the program have a context, or are not in Python's image.
bool isOfPython(const Allocator &) noexcept;

struct Sampler {
  int64_t left; // bytes until the next sampled request
  bool has_begun;
  Random random;
};
extern __thread Sampler sampler;

// Moves the thread on by a request. Returns whether the request is sampled.
[[gnu::always_inline]] inline bool isDue(size_t size) noexcept {
  if (size > abi::kMostSampledBytes)
    return false;
  sampler.left -= static_cast<int64_t>(abi::sampleUnitsOf(size) * abi::kSampleUnitBytes);
  return sampler.left < 0;
}

// The thread's distance has ended. Chooses the next one. Returns false at the thread's first request: the distance was
// not chosen before, so this function does the work of isDue().
bool beginDistance(size_t size) noexcept;

// Returns the path to the code of Python that called the door.
uint32_t pathOfDoor(const void *caller, const CallerFrame &own) noexcept;

} // namespace msleaks::runtime::python
