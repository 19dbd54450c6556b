#include "empty_tensors.h"

#include <stdexcept>

int at::TensorBase::alive = 0;
at::Received at::received;

namespace {

// The stand-in does not look at the sizes.
at::TensorBase make(const at::Received &arguments) {
  at::received = arguments;
  void *memory = arguments.allocator->allocate(8);
  if (memory == nullptr)
    throw std::runtime_error("not enough memory");
  return at::TensorBase(memory);
}

} // namespace

at::TensorBase at::detail::empty_generic(c10::ArrayRef<long> sizes, c10::Allocator *allocator, c10::DispatchKeySet keys,
                                         c10::ScalarType type, c10::optional<c10::MemoryFormat> format) {
  return make(
      {sizes, {}, allocator, keys.bits, static_cast<int>(type), format.is_set ? static_cast<int>(format.value) : -1});
}

at::TensorBase at::detail::empty_generic(c10::ArrayRef<long> sizes, c10::Allocator *allocator, c10::DispatchKeySet keys,
                                         c10::ScalarType type, std::optional<c10::MemoryFormat> format) {
  return make({sizes, {}, allocator, keys.bits, static_cast<int>(type), format ? static_cast<int>(*format) : -1});
}

at::TensorBase at::detail::empty_strided_generic(c10::ArrayRef<long> sizes, c10::ArrayRef<long> strides,
                                                 c10::Allocator *allocator, c10::DispatchKeySet keys,
                                                 c10::ScalarType type) {
  return make({sizes, strides, allocator, keys.bits, static_cast<int>(type), -1});
}
