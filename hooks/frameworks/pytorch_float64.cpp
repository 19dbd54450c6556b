// Announces each large tensor that PyTorch makes in float64, before its memory is allocated.
//
// PyTorch makes most tensors by at::detail::empty_generic or empty_strided_generic, on the host and on devices. It
// calls both through the table of the dynamic linker, in versions 1.13 and 2.15. The names of the functions contain the
// types of their parameters, so a version with other types has other names, and no hook. The layouts below are those of
// all versions with these names. In a build that calls the functions directly, the hooks are never called.
#include "core/own_hook.h"

#include "msleaks/abi/torch_float64.h"
#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/torch_float64.h"

#include <cstddef>
#include <cstdint>

using namespace msleaks;

namespace {

// at::TensorBase: a pointer. The destructor makes the compiler return the object as it returns a TensorBase, in memory
// of the caller.
struct Tensor {
  void *memory = nullptr;
  ~Tensor() {} // NOLINT(modernize-use-equals-default): a default destructor would change how the object is returned
};
// c10::ArrayRef<long>
struct Numbers {
  const int64_t *begin;
  size_t count;
};
// An optional of an enumeration of one byte. Older versions have the two bytes in the other order.
struct OptionalByte {
  uint8_t bytes[2];
};
enum ScalarType : int8_t { kDouble = 7 };

constexpr uint64_t kElementBytes = sizeof(double);

// Returns the number of elements from the first to the last; 0: there are none, or too many.
uint64_t elementsOf(const Numbers &sizes) noexcept {
  uint64_t elements = 1;
  for (size_t i = 0; i < sizes.count; ++i)
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(sizes.begin[i]), &elements))
      return 0;
  return elements;
}
uint64_t elementsOf(const Numbers &sizes, const Numbers &strides) noexcept {
  uint64_t elements = 1;
  for (size_t i = 0; i < sizes.count; ++i) {
    uint64_t more = 0;
    if (sizes.begin[i] <= 0 || i >= strides.count ||
        __builtin_mul_overflow(static_cast<uint64_t>(sizes.begin[i]) - 1, static_cast<uint64_t>(strides.begin[i]),
                               &more) ||
        __builtin_add_overflow(elements, more, &elements))
      return 0;
  }
  return elements;
}

void announce(uint64_t elements) noexcept {
  const runtime::ErrnoKept kept;
  uint64_t bytes = 0;
  if (!__builtin_mul_overflow(elements, kElementBytes, &bytes) && bytes >= abi::kLeastFloat64Bytes)
    __msl_torch_float64(bytes);
}

} // namespace

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage" // only the symbol is C's
#endif

// empty_generic(sizes, allocator, dispatch keys, type, memory format). Before version 2.3 the optional is PyTorch's
// own.
#define MSL_EMPTY(name)                                                                                                \
  MSL_OWN_HOOK(libtorch_cpu, Tensor, name,                                                                             \
               (Numbers sizes, void *allocator, uint64_t keys, ScalarType type, OptionalByte format)) {                \
    if (type == kDouble)                                                                                               \
      announce(elementsOf(sizes));                                                                                     \
    auto *const real = reinterpret_cast<Tensor (*)(Numbers, void *, uint64_t, ScalarType, OptionalByte)>(              \
        hook::realOf(msl_hook_of_##name, __builtin_return_address(0)));                                                \
    return real != nullptr ? real(sizes, allocator, keys, type, format) : Tensor{};                                    \
  }

MSL_EMPTY(
    _ZN2at6detail13empty_genericEN3c108ArrayRefIlEEPNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeENS1_8optionalINS1_12MemoryFormatEEE)
MSL_EMPTY(
    _ZN2at6detail13empty_genericEN3c108ArrayRefIlEEPNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeESt8optionalINS1_12MemoryFormatEE)

// empty_strided_generic(sizes, strides, allocator, dispatch keys, type)
MSL_OWN_HOOK(
    libtorch_cpu, Tensor,
    _ZN2at6detail21empty_strided_genericEN3c108ArrayRefIlEES3_PNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeE,
    (Numbers sizes, Numbers strides, void *allocator, uint64_t keys, ScalarType type)) {
  if (type == kDouble)
    announce(elementsOf(sizes, strides));
  auto *const real = reinterpret_cast<Tensor (*)(Numbers, Numbers, void *, uint64_t, ScalarType)>(hook::realOf(
      msl_hook_of__ZN2at6detail21empty_strided_genericEN3c108ArrayRefIlEES3_PNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeE,
      __builtin_return_address(0)));
  return real != nullptr ? real(sizes, strides, allocator, keys, type) : Tensor{};
}
